// Package serving is what backend and proxy share: where they listen, their profile, and the log of
// requests and answers.
package serving

import (
	"fmt"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof" // on its own port, apart from the routes under load
	"os"
	"time"
)

// Serve listens at $PORT of the loopback address, 0 for any free one, and says where. With PPROF set
// to an address, /debug/pprof is served there.
func Serve(handler http.Handler) {
	if address := os.Getenv("PPROF"); address != "" {
		go func() { log.Fatal(http.ListenAndServe(address, nil)) }()
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	log.Fatal(http.Serve(listener, logged(handler)))
}

// logged writes, with LOG=1, a line for each request and one for its answer.
func logged(handler http.Handler) http.Handler {
	if os.Getenv("LOG") != "1" {
		return handler
	}
	lines := log.New(os.Stdout, "", log.LstdFlags|log.Lmicroseconds)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		method, url := r.Method, r.URL.String()
		lines.Printf("> %s %s", method, url)
		seen := &watched{ResponseWriter: w, status: http.StatusOK}
		handler.ServeHTTP(seen, r)
		lines.Printf("< %s %s %d %s", method, url, seen.status, time.Since(began))
	})
}

type watched struct {
	http.ResponseWriter
	status int
}

func (w *watched) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets the proxy flush through it.
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }
