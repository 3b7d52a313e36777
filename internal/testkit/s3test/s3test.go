// Package s3test is an S3-compatible object store for tests: objects with tags, conditional writes, lists, signed
// requests, and random faults.
package s3test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Keys that sign requests.
const (
	AccessKey = "AKTEST"
	SecretKey = "secret of the test"
	Bucket    = "memories"
)

// Faults gives the percentage of requests with each fault.
type Faults struct {
	Refused  int // 503, and nothing is done
	Lost     int // it is done, and the connection cut before an answer
	Cut      int // it is done, and the answer cut in its middle
	Doubled  int // it is done twice
	Conflict int // 409 on a write under a condition, and nothing is done
	Slow     int // an answer comes in small pieces
}

// Server is a store with one bucket. Its fields must be set before the first request.
type Server struct {
	URL     string
	Latency time.Duration
	Faults  Faults
	// Careless makes it ignore conditions, as some stores do.
	Careless bool
	Page     int // objects on a page of a list

	mu       sync.Mutex
	gate     func(request string) bool
	random   *rand.Rand
	objects  map[string]object
	requests []string // method and key
	tags     int
}

type object struct {
	data []byte
	tag  string
	at   time.Time
}

// New starts a store that ends with the test.
func New(t *testing.T, seed uint64) *Server {
	s := &Server{Page: 1000, objects: make(map[string]object), random: rand.New(rand.NewPCG(seed, 1))}
	h := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(h.Close)
	s.URL = h.URL
	return s
}

// Requests returns the requests since the last call, as method and key.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.requests
	s.requests = nil
	return out
}

// Keys returns the keys of all objects in their order.
func (s *Server) Keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.objects))
}

// Object returns the bytes of an object, nil for none.
func (s *Server) Object(key string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[key].data
}

// Set replaces an object, with a given write time.
func (s *Server) Set(key string, data []byte, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(key, data, at)
}

func (s *Server) put(key string, data []byte, at time.Time) string {
	s.tags++
	tag := fmt.Sprintf(`"%d"`, s.tags)
	s.objects[key] = object{data, tag, at}
	return tag
}

// chance reports whether a fault occurs. mu must be held.
func (s *Server) chance(percent int) bool { return s.random.IntN(100) < percent }

// SetGate lets fn decide about each request from now on, as method and key: the connection of one that it refuses is cut.
// fn is called on any goroutine.
func (s *Server) SetGate(fn func(request string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gate = fn
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	time.Sleep(s.Latency)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	key, ok := strings.CutPrefix(r.URL.Path, "/"+Bucket+"/")
	s.mu.Lock()
	s.requests = append(s.requests, r.Method+" "+key)
	conditional := r.Header.Get("If-Match") != "" || r.Method == http.MethodPut
	refused, lost, cut := s.chance(s.Faults.Refused), s.chance(s.Faults.Lost), s.chance(s.Faults.Cut)
	conflict, doubled, slow := conditional && s.chance(s.Faults.Conflict), s.chance(s.Faults.Doubled), s.chance(s.Faults.Slow)
	gate := s.gate
	s.mu.Unlock()
	if gate != nil && !gate(r.Method+" "+key) {
		panic(http.ErrAbortHandler)
	}
	switch {
	case !ok:
		fail(w, http.StatusNotFound, "NoSuchBucket")
		return
	case !signed(r, body):
		fail(w, http.StatusForbidden, "SignatureDoesNotMatch")
		return
	case refused:
		fail(w, http.StatusServiceUnavailable, "SlowDown")
		return
	case conflict:
		fail(w, http.StatusConflict, "ConditionalRequestConflict")
		return
	}
	status, header, answer := s.do(r, key, body)
	if doubled {
		status, header, answer = s.do(r, key, body)
	}
	if lost {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), header)
	w.Header().Set("Content-Length", fmt.Sprint(len(answer)))
	w.WriteHeader(status)
	step := len(answer)
	if slow {
		step = max(1, step/4)
	}
	for sent := 0; sent < len(answer); sent += step {
		if cut && sent+step >= len(answer) {
			_, _ = w.Write(answer[sent : sent+(len(answer)-sent)/2])
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write(answer[sent:min(sent+step, len(answer))])
		if slow {
			w.(http.Flusher).Flush()
			time.Sleep(2 * time.Millisecond)
		}
	}
}

func fail(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code></Error>", code)
}

// do carries out a request.
func (s *Server) do(r *http.Request, key string, body []byte) (status int, header http.Header, answer []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	header = make(http.Header)
	old, there := s.objects[key]
	switch {
	case r.Method == http.MethodGet && key == "":
		return http.StatusOK, header, s.list(r)
	case r.Method == http.MethodGet && !there:
		return http.StatusNotFound, header, []byte("<Error><Code>NoSuchKey</Code></Error>")
	case r.Method == http.MethodGet && r.Header.Get("If-None-Match") == old.tag:
		return http.StatusNotModified, header, nil
	case r.Method == http.MethodGet:
		header.Set("ETag", old.tag)
		return http.StatusOK, header, old.data
	case r.Method == http.MethodDelete:
		delete(s.objects, key)
		return http.StatusNoContent, header, nil
	case r.Method != http.MethodPut:
		return http.StatusMethodNotAllowed, header, nil
	}
	if !s.Careless && (r.Header.Get("If-None-Match") == "*" && there ||
		r.Header.Get("If-Match") != "" && r.Header.Get("If-Match") != old.tag) {
		return http.StatusPreconditionFailed, header, []byte("<Error><Code>PreconditionFailed</Code></Error>")
	}
	header.Set("ETag", s.put(key, body, time.Now()))
	return http.StatusOK, header, nil
}

// listed is a page of a list.
type listed struct {
	XMLName               xml.Name `xml:"ListBucketResult"`
	IsTruncated           bool
	NextContinuationToken string `xml:",omitempty"`
	Contents              []struct{ Key, LastModified string }
}

func (s *Server) list(r *http.Request) []byte {
	var out listed
	q := r.URL.Query()
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		if !strings.HasPrefix(key, q.Get("prefix")) || key <= q.Get("continuation-token") {
			continue
		}
		if len(out.Contents) == s.Page {
			out.IsTruncated, out.NextContinuationToken = true, out.Contents[s.Page-1].Key
			break
		}
		out.Contents = append(out.Contents, struct{ Key, LastModified string }{
			key, s.objects[key].at.UTC().Format("2006-01-02T15:04:05.000Z"),
		})
	}
	text, err := xml.Marshal(out)
	if err != nil {
		panic(err)
	}
	return text
}

// signed reports whether a request's signature is valid.
func signed(r *http.Request, body []byte) bool {
	rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential="+AccessKey+"/")
	parts := strings.Split(rest, ", ")
	sum := sha256.Sum256(body)
	if !ok || len(parts) != 3 || r.Header.Get("x-amz-content-sha256") != hex.EncodeToString(sum[:]) {
		return false
	}
	scope := parts[0]
	names := strings.TrimPrefix(parts[1], "SignedHeaders=")
	var canonical strings.Builder
	fmt.Fprintf(&canonical, "%s\n%s\n%s\n", r.Method, r.URL.EscapedPath(), r.URL.RawQuery)
	for _, name := range strings.Split(names, ";") {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.Host
		}
		fmt.Fprintf(&canonical, "%s:%s\n", name, value)
	}
	fmt.Fprintf(&canonical, "\n%s\n%s", names, hex.EncodeToString(sum[:]))
	hash := sha256.Sum256([]byte(canonical.String()))
	k := []byte("AWS4" + SecretKey)
	for _, part := range append(strings.Split(scope, "/"),
		"AWS4-HMAC-SHA256\n"+r.Header.Get("x-amz-date")+"\n"+scope+"\n"+hex.EncodeToString(hash[:])) {
		mac := hmac.New(sha256.New, k)
		mac.Write([]byte(part))
		k = mac.Sum(nil)
	}
	return parts[2] == "Signature="+hex.EncodeToString(k)
}
