// A bare net/http server: the most that this language and this machine give.
//
//	go build -o bare ./bare && ./bare -port 8080
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
)

func main() {
	port := flag.Int("port", 8080, "port on 127.0.0.1; 0 takes any free one")
	flag.Parse()

	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on http://%s/healthz\n", listener.Addr())
	log.Fatal(http.Serve(listener, routes()))
}

func routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		io.WriteString(w, `{"status":"ok"}`)
	})
	return mux
}
