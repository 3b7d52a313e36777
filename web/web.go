// Package web is the web view of a memory: a page that shows what 'mnem serve' answers. Its sources are
// in src, its library in third_party; 'go run .' in build makes dist of them, which is committed, so that
// building the program needs nothing else.
package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"path"
	"sync"
)

//go:embed dist
var dist embed.FS

// Policy is the Content-Security-Policy of the page: code, styles and answers come from its own origin
// alone, and no text becomes markup or code: the one policy of trusted types vouches for the worker's address.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
	"img-src 'self' blob: data:; worker-src 'self'; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types mnem"

// File is a file of the page. Data must not be changed.
type File struct {
	Path  string // as browsers ask for it
	Media string
	Tag   string // of its content, as HTTP has it
	Data  []byte
}

var media = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8",
}

// Files returns the files of the page in the order of their names.
var Files = sync.OnceValue(func() []File {
	entries, err := fs.ReadDir(dist, "dist")
	if err != nil {
		panic(err) // the compiler put it there
	}
	var all []File
	for _, e := range entries {
		data, err := dist.ReadFile(path.Join("dist", e.Name()))
		if err != nil {
			panic(err) // as above
		}
		sum := sha256.Sum256(data)
		f := File{
			Path: "/" + e.Name(), Media: media[path.Ext(e.Name())], Data: data,
			Tag: `"` + hex.EncodeToString(sum[:16]) + `"`,
		}
		if e.Name() == "index.html" {
			f.Path = "/"
		}
		all = append(all, f)
	}
	return all
})
