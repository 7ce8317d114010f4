// Command http2server is net/http over HTTP/2. It answers / with 200 and all other paths with 404, and
// prints at its end how many of each it has answered.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

func main() {
	address := flag.String("address", "", "listen at HOST:PORT")
	streams := flag.Int("streams", 0, "allow so many streams on a connection (default: Go's own limit)")
	certificate := flag.String("certificate", "", "speak TLS with this certificate")
	key := flag.String("key", "", "the key of the certificate")
	flag.Parse()

	var found, missing atomic.Int64
	server := &http.Server{
		Addr:      *address,
		Handler:   answer(&found, &missing),
		Protocols: new(http.Protocols),
		HTTP2:     &http.HTTP2Config{MaxConcurrentStreams: *streams},
	}
	server.Protocols.SetHTTP2(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	go func() {
		if *certificate != "" {
			log.Fatal(server.ListenAndServeTLS(*certificate, *key))
		}
		log.Fatal(server.ListenAndServe())
	}()

	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGTERM)
	<-ends
	fmt.Printf("{\"2xx\": %d, \"4xx\": %d}\n", found.Load(), missing.Load())
}

func answer(found, missing *atomic.Int64) http.HandlerFunc {
	return func(writer http.ResponseWriter, request *http.Request) {
		if request.URL.Path != "/" {
			missing.Add(1)
			writer.WriteHeader(http.StatusNotFound)
			return
		}
		found.Add(1)
		_, _ = writer.Write([]byte("hello"))
	}
}
