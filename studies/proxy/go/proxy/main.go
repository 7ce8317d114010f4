// A proxy: /proxy/PATH is /PATH of $BACKEND, over connections that are kept open. Bodies and answers
// pass through as they come. 502 when the backend is not there.
//
//	PORT=8002 BACKEND=http://127.0.0.1:8001 LOG=1 PPROF=127.0.0.1:6061 proxy
package main

import (
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"

	"studies/proxy/serving"
)

func main() {
	backend, err := url.Parse(os.Getenv("BACKEND"))
	if err != nil || backend.Host == "" {
		log.Fatal("BACKEND is not the URL of a server")
	}
	mux := http.NewServeMux()
	mux.Handle("/proxy/", http.StripPrefix("/proxy", forwardTo(backend)))
	serving.Serve(mux)
}

func forwardTo(backend *url.URL) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(backend) },
		// As many connections to the backend as requests are in flight, as in Express's proxy: the
		// default would keep two of them open.
		Transport: &http.Transport{
			MaxIdleConnsPerHost: 1 << 20,
			DisableCompression:  true,
		},
		FlushInterval: -1,
		ErrorHandler:  refuse,
	}
}

func refuse(w http.ResponseWriter, _ *http.Request, _ error) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusBadGateway)
	w.Write([]byte("the backend does not answer"))
}
