package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
)

// A file is one that an archive or a package has.
type file struct {
	name string // its path, with slashes and none at the front
	mode int64
	data []byte
}

// write makes a file of the release.
func (m *maker) write(name string, fill func(io.Writer) error) error {
	f, err := os.OpenFile(filepath.Join(m.into, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if err := fill(f); err != nil {
		f.Close()
		return fmt.Errorf("write %s: %w", name, err)
	}
	return f.Close()
}

// writeTarGz writes a compressed tar.
func writeTarGz(w io.Writer, files []file, at time.Time) error {
	z := gzip.NewWriter(w)
	if err := writeTar(z, files, at); err != nil {
		return err
	}
	return z.Close()
}

// writeTar writes files and the directories that they are in, which belong to root.
func writeTar(w io.Writer, files []file, at time.Time) error {
	t := tar.NewWriter(w)
	made := map[string]bool{".": true}
	for _, f := range files {
		for _, dir := range parents(f.name) {
			if !made[dir] {
				made[dir] = true
				if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755, ModTime: at}); err != nil {
					return err
				}
			}
		}
		header := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.data)), ModTime: at}
		if err := t.WriteHeader(header); err != nil {
			return err
		}
		if _, err := t.Write(f.data); err != nil {
			return err
		}
	}
	return t.Close()
}

// parents are the directories above a path, from the top down.
func parents(name string) []string {
	dir := path.Dir(name)
	if dir == "." {
		return nil
	}
	return append(parents(dir), dir)
}

func writeZip(w io.Writer, files []file, at time.Time) error {
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.DefaultCompression) })
	for _, f := range files {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at}
		header.SetMode(os.FileMode(f.mode))
		in, err := z.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := in.Write(f.data); err != nil {
			return err
		}
	}
	return z.Close()
}

// compressed is a text as packages for Linux have it: without name and time.
func compressed(data []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}

// installed are the files of a package for Linux. zsh is the directory of functions of zsh.
func (m *maker) installed(program, zsh string) ([]file, error) {
	files, err := m.program(program, "usr/bin/mnem")
	if err != nil {
		return nil, err
	}
	places := map[string]string{
		"mnem.bash": "usr/share/bash-completion/completions/mnem",
		"_mnem":     zsh + "/_mnem",
		"mnem.fish": "usr/share/fish/vendor_completions.d/mnem.fish",
	}
	for _, f := range m.shells {
		if at := places[f.name]; at != "" {
			files = append(files, file{at, f.mode, f.data})
		}
	}
	for _, f := range m.pages {
		data, err := compressed(f.data)
		if err != nil {
			return nil, err
		}
		files = append(files, file{"usr/share/man/man" + f.name[len(f.name)-1:] + "/" + f.name + ".gz", f.mode, data})
	}
	licence, err := m.licence()
	if err != nil {
		return nil, err
	}
	files = append(files, file{"usr/share/doc/mnem/copyright", 0o644, licence})
	sortFiles(files)
	return files, nil
}

// licence joins the licence of the sources and the notices of the work of others.
func (m *maker) licence() ([]byte, error) {
	notice, err := os.ReadFile(filepath.Join(m.root, "NOTICE"))
	if err != nil {
		return nil, err
	}
	licence, err := os.ReadFile(filepath.Join(m.root, "LICENSE"))
	return []byte(strings.Join([]string{string(notice), string(licence)}, "\n")), err
}
