module studies/proxy

go 1.22
