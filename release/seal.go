package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"text/template"

	_ "embed"
)

//go:embed install.sh
var installer string

// materials writes the bill of materials of a program: its modules, as the program itself names them, and the sentence
// model, in CycloneDX.
func (m *maker) materials(target, program string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	whole := fields{"type": "application", "bom-ref": "mnem", "name": "mnem", "version": m.version,
		"purl": "pkg:golang/" + info.Main.Path + "@v" + m.version, "licenses": []any{licensed("Apache-2.0")}}
	standard := strings.TrimPrefix(info.GoVersion, "go")
	parts := []any{
		fields{"type": "library", "name": "std", "version": standard, "purl": "pkg:golang/std@" + standard},
		fields{"type": "machine-learning-model", "name": "sentence-transformers/all-MiniLM-L6-v2",
			"licenses": []any{licensed("Apache-2.0")}, "purl": "pkg:huggingface/sentence-transformers/all-MiniLM-L6-v2"},
	}
	for _, d := range info.Deps {
		parts = append(parts, component(d))
	}
	text, err := json.MarshalIndent(fields{"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata": fields{"component": whole}, "components": parts}, "", "  ")
	if err != nil {
		return err
	}
	return m.write(m.base(target)+".cdx.json", func(w io.Writer) error { return line(w, text) })
}

func licensed(id string) fields { return fields{"license": fields{"id": id}} }

// component describes a module, with its hash from go.sum.
func component(d *debug.Module) fields {
	if d.Replace != nil {
		d = d.Replace
	}
	return fields{"type": "library", "name": d.Path, "version": d.Version, "purl": "pkg:golang/" + d.Path + "@" + d.Version,
		"properties": []any{fields{"name": "go:sum", "value": d.Sum}}}
}

func line(w io.Writer, text []byte) error {
	_, err := w.Write(append(text, '\n'))
	return err
}

// seal writes what names other files by their hashes: manifests, the installer, provenance and checksums.
func (m *maker) seal(programs map[string]string) error {
	sums, err := m.sums()
	if err != nil {
		return err
	}
	if err := m.manifests(sums); err != nil {
		return err
	}
	script := strings.NewReplacer("@VERSION@", m.version, "@HOST@", m.host).Replace(installer)
	if err := m.write("install.sh", func(w io.Writer) error { return line(w, []byte(strings.TrimRight(script, "\n"))) }); err != nil {
		return err
	}
	if sums, err = m.sums(); err != nil {
		return err
	}
	if err := m.provenance(sums, programs); err != nil {
		return err
	}
	if sums, err = m.sums(); err != nil {
		return err
	}
	return m.write("checksums.txt", func(w io.Writer) error {
		for _, s := range sums {
			if _, err := fmt.Fprintf(w, "%s  %s\n", s.sum, s.name); err != nil {
				return err
			}
		}
		return nil
	})
}

// A sum is the SHA-256 of a file of the release.
type sum struct{ name, sum string }

// sums hashes the files that are offered.
func (m *maker) sums() ([]sum, error) {
	entries, err := os.ReadDir(m.into)
	if err != nil {
		return nil, err
	}
	var list []sum
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		f, err := os.Open(filepath.Join(m.into, e.Name()))
		if err != nil {
			return nil, err
		}
		h := sha256.New()
		_, err = io.Copy(h, f)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		list = append(list, sum{e.Name(), fmt.Sprintf("%x", h.Sum(nil))})
	}
	return list, nil
}

// provenance writes a statement of in-toto that names the sources, tools and arguments of the files. It is not signed.
func (m *maker) provenance(sums []sum, programs map[string]string) error {
	var subjects []any
	for _, s := range sums {
		subjects = append(subjects, fields{"name": s.name, "digest": fields{"sha256": s.sum}})
	}
	var targets []string
	tool := ""
	for _, target := range platforms {
		if programs[target] == "" {
			continue
		}
		targets = append(targets, target)
		info, err := buildinfo.ReadFile(programs[target])
		if err != nil {
			return err
		}
		tool = info.GoVersion
	}
	source := fields{"uri": "git+" + homepage + "@refs/tags/v" + m.version, "digest": fields{"gitCommit": m.commit}}
	text, err := json.MarshalIndent(fields{
		"_type": "https://in-toto.io/Statement/v1", "subject": subjects, "predicateType": "https://slsa.dev/provenance/v1",
		"predicate": fields{
			"buildDefinition": fields{
				"buildType":            homepage + "/blob/main/docs/internals/releases.md",
				"externalParameters":   fields{"version": m.version, "targets": targets, "host": m.host},
				"internalParameters":   fields{"go": tool, "CGO_ENABLED": "0", "flags": "-trimpath -ldflags='-s -w'"},
				"resolvedDependencies": []any{source},
			},
			"runDetails": fields{"builder": fields{"id": homepage + "/tree/main/release"}},
		},
	}, "", "  ")
	if err != nil {
		return err
	}
	m.skipped = append(m.skipped, "signatures of checksums and provenance: no key")
	return m.write("mnem_"+m.version+"_provenance.json", func(w io.Writer) error { return line(w, text) })
}

//go:embed mnem.rb.tmpl
var formula string

// manifests writes those of Homebrew and Scoop for the archives that were made.
func (m *maker) manifests(sums []sum) error {
	at := func(target, ending string) map[string]string {
		name := m.base(target) + ending
		i := slices.IndexFunc(sums, func(s sum) bool { return s.name == name })
		if i < 0 {
			return nil
		}
		return map[string]string{"url": m.host + "/v" + m.version + "/" + name, "hash": sums[i].sum}
	}
	archives := make(map[string]map[string]string)
	for _, target := range platforms[:4] {
		if a := at(target, ".tar.gz"); a != nil {
			archives[strings.ReplaceAll(target, "/", "_")] = a
		}
	}
	if len(archives) == 4 {
		var b bytes.Buffer
		values := fields{"version": m.version, "summary": summary, "homepage": homepage, "archives": archives}
		if err := template.Must(template.New("").Parse(formula)).Execute(&b, values); err != nil {
			return err
		}
		if err := m.write("mnem.rb", func(w io.Writer) error { _, err := w.Write(b.Bytes()); return err }); err != nil {
			return err
		}
	} else {
		m.skipped = append(m.skipped, "Homebrew formula: not all archives for Linux and macOS were made")
	}
	large, small := at("windows/amd64", ".zip"), at("windows/arm64", ".zip")
	if large == nil || small == nil {
		m.skipped = append(m.skipped, "Scoop manifest: not all archives for Windows were made")
		return nil
	}
	text, err := json.MarshalIndent(fields{"version": m.version, "description": summary, "homepage": homepage, "license": "Apache-2.0",
		"architecture": fields{"64bit": large, "arm64": small}, "bin": "mnem.exe"}, "", "  ")
	if err != nil {
		return err
	}
	return m.write("mnem.json", func(w io.Writer) error { return line(w, text) })
}
