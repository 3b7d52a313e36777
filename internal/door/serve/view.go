package serve

import (
	"bytes"
	"net/http"
	"slices"
	"time"

	"github.com/mnem-project/mnem/web"
)

// serveView answers the paths of the web view. Its files are the same for everybody and say nothing of
// the repository, so no login is needed to get them.
func (s *Server) serveView() {
	for _, f := range web.Files() {
		path := f.Path
		if path == "/" {
			path = "/{$}"
		}
		s.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if !s.methods(w, r, http.MethodGet, http.MethodHead) {
				return
			}
			h := w.Header()
			h.Set("Content-Type", f.Media)
			h.Set("Content-Security-Policy", web.Policy)
			h.Set("Cross-Origin-Opener-Policy", "same-origin")
			h.Set("Cross-Origin-Resource-Policy", "same-origin")
			h.Set("Referrer-Policy", "no-referrer")
			h.Set("Etag", f.Tag)
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.Data))
		})
	}
}

// opensView reports whether a browser goes to the web view from elsewhere, by a link or a file that
// 'mnem view' wrote, or to the page on which clients sign in. The page that did it sees nothing of the answer, and no cookie comes with it.
func (s *Server) opensView(r *http.Request) bool {
	h := r.Header
	page := s.cfg.View && r.URL.Path == "/" || s.cfg.OAuth != nil && r.URL.Path == authorizePath
	return page && r.Method == http.MethodGet && len(h.Values("Origin")) == 0 &&
		slices.Equal(h.Values("Sec-Fetch-Mode"), []string{"navigate"}) &&
		slices.Equal(h.Values("Sec-Fetch-Dest"), []string{"document"})
}
