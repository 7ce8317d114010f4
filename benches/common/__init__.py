"""What benches share: the host, a server to fire at, stamps."""
