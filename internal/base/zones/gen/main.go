// Command gen writes zones.bin from the time zone database of the Go installation.
package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		log.Fatal(err)
	}
	data, err := table(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err == nil {
		err = os.WriteFile("zones.bin", data, 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// table returns the compressed names and rules of all zones of an archive.
func table(archive string) ([]byte, error) {
	in, err := zip.OpenReader(archive)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	rules := map[string][]byte{}
	for _, f := range in.File {
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		if rules[f.Name], err = io.ReadAll(r); err != nil {
			return nil, err
		}
	}
	return packed(rules)
}

// packed writes each zone as the lengths of its name and its rules, and both; the rules of a zone that has those of an
// earlier one are that one's name, with the length 0 before them.
func packed(rules map[string][]byte) ([]byte, error) {
	var names []string
	for name := range rules {
		if name[len(name)-1] != '/' {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var plain []byte
	first := map[string]string{}
	for _, name := range names {
		plain = append(binary.AppendUvarint(plain, uint64(len(name))), name...)
		rule := rules[name]
		if same, ok := first[string(rule)]; ok {
			plain = append(plain, 0)
			plain = append(binary.AppendUvarint(plain, uint64(len(same))), same...)
			continue
		}
		first[string(rule)] = name
		plain = append(binary.AppendUvarint(plain, uint64(len(rule))), rule...)
	}
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err = w.Write(plain); err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}
