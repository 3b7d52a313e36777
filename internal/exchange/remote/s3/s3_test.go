package s3_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/exchange/remote/s3"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/s3test"
)

func client(t *testing.T, s *s3test.Server, change func(*s3.ClientOptions)) *s3.Client {
	t.Helper()
	opt := s3.ClientOptions{
		Endpoint: s.URL, Bucket: s3test.Bucket, Prefix: "team", PathStyle: true, Now: time.Now,
		Sleep:     func(_ context.Context, d time.Duration) error { time.Sleep(d); return nil },
		AccessKey: s3test.AccessKey, SecretKey: s3test.SecretKey, Encryption: "AES256", Token: "for a while",
	}
	if change != nil {
		change(&opt)
	}
	c := must.Get(s3.New(opt))(t)
	return c
}

func put(t *testing.T, c *s3.Client, key, known, text string) (s3.Object, error) {
	t.Helper()
	return c.Put(t.Context(), key, known, strings.NewReader(text), int64(len(text)))
}

func TestObjects(t *testing.T) {
	server := s3test.New(t, 1)
	server.Page = 3
	c := client(t, server, nil)
	ctx := t.Context()
	_, _, err := c.Bytes(ctx, "a", "", 10)
	must.True(t, errors.Is(err, s3.ErrNotFound), "an object that is not there: %v", err)
	first, err := put(t, c, "a", "", "one")
	must.Require(t, err == nil && first.ETag != "" && !first.At.IsZero(), "%v %v", first, err)
	must.Fail(t, must.Err(put(t, c, "a", "", "two")), s3.ErrMoved, "made twice")
	second := must.Get(put(t, c, "a", first.ETag, "two"))(t)
	must.Fail(t, must.Err(put(t, c, "a", first.ETag, "three")), s3.ErrMoved, "replaced twice")
	got, o, err := c.Bytes(ctx, "a", "", 3)
	must.True(t, err == nil && string(got) == "two" && o.ETag == second.ETag, "%q, %v, %v", got, o, err)
	_, _, err = c.Bytes(ctx, "a", second.ETag, 3)
	must.True(t, errors.Is(err, s3.ErrSame), "the same object: %v", err)
	_, _, err = c.Bytes(ctx, "a", "", 2)
	must.True(t, errors.Is(err, s3.ErrTooLarge), "an object over the limit: %v", err)
	for n := range 7 {
		must.OK(t, must.Err(put(t, c, fmt.Sprint("p/", n), "", "")))
	}
	var keys []string
	if err := c.List(ctx, "p/", func(o s3.Listed) error {
		keys = append(keys, o.Key)
		must.True(t, !o.At.IsZero(), "%s has no time", o.Key)
		return nil
	}); err != nil || !slices.Equal(keys, []string{"p/0", "p/1", "p/2", "p/3", "p/4", "p/5", "p/6"}) {
		t.Errorf("list: %q, %v", keys, err)
	}
	for range 2 {
		must.OK(t, c.Delete(ctx, "a"))
	}
	if got := server.Keys(); slices.Contains(got, "team/a") || len(got) != 7 {
		t.Errorf("keys %q", got)
	}
}

func TestDenied(t *testing.T) {
	server := s3test.New(t, 1)
	for name, change := range map[string]func(*s3.ClientOptions){
		"wrong key": func(o *s3.ClientOptions) { o.SecretKey = "another" },
		"no key":    func(o *s3.ClientOptions) { o.AccessKey, o.SecretKey = "", "" },
	} {
		must.Fail(t, must.Err(put(t, client(t, server, change), "a", "", "x")), s3.ErrDenied, name)
	}
	_, err := put(t, client(t, server, func(o *s3.ClientOptions) { o.Bucket = "other" }), "a", "", "x")
	must.True(t, errors.Is(err, s3.ErrNotFound), "another bucket: %v", err)
	for _, endpoint := range []string{"ftp://x", "x", "http://", "http://u:p@x", "http://x?y"} {
		_, err := s3.New(s3.ClientOptions{Endpoint: endpoint, Bucket: "memories"})
		must.True(t, err != nil, "endpoint %q was accepted", endpoint)
	}
}

// TestFaults reads and writes while a third of all requests go wrong.
func TestFaults(t *testing.T) {
	server := s3test.New(t, 7)
	server.Faults = s3test.Faults{Refused: 15, Lost: 10, Cut: 10, Doubled: 10, Slow: 10, Conflict: 10}
	c := client(t, server, nil)
	data := bytes.Repeat([]byte("0123456789"), 1000)
	for n := range 60 {
		key := fmt.Sprint("k", n)
		must.OK(t, c.Make(t.Context(), key, bytes.NewReader(data), int64(len(data))), "put ", key)
		got, _, err := c.Bytes(t.Context(), key, "", int64(len(data)))
		must.OK(t, err, "get ", key, ": ", len(got), " bytes")
		must.Same(t, got, data, "get ", key, ": ", len(got), " bytes, ", err)
	}
}

func TestProbe(t *testing.T) {
	good := s3test.New(t, 3)
	must.OK(t, client(t, good, nil).Probe(t.Context(), "probe"))
	must.Equal(t, len(good.Requests()), 19, "requests")
	careless := s3test.New(t, 3)
	careless.Careless = true
	must.Fail(t, client(t, careless, nil).Probe(t.Context(), "probe"), s3.ErrUnsafe, "a store that ignores conditions")
	for seed := range uint64(20) {
		faulty := s3test.New(t, seed)
		faulty.Faults = s3test.Faults{Refused: 5, Lost: 5, Doubled: 5}
		must.OK(t, client(t, faulty, nil).Probe(t.Context(), "probe"), "seed ", seed)
	}
	for _, s := range []*s3test.Server{good, careless} {
		keys := s.Keys()
		must.True(t, len(keys) == 0, "left behind: %q", keys)
	}
}
