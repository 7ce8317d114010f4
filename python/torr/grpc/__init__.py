"""gRPC: schemas, messages from JSON and back, and the status of a call."""
