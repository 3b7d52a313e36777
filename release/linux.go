package main

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/google/rpmpack"
)

const (
	summary     = "git for an AI agent's memory"
	description = "mnem stores what an agent knows as a graph of facts under version control: remember and commit, recall " +
		"within a token budget, see what changed and why, branch, merge, undo, and replay any past answer."
	homepage   = "https://github.com/mnem-project/mnem"
	maintainer = "The mnem authors <mnem@users.noreply.github.com>"
)

// packageVersion sorts a version before a release, as 0.1.0-rc.1, before it for dpkg and rpm.
func (m *maker) packageVersion() string { return strings.ReplaceAll(m.version, "-", "~") }

// deb writes a package for Debian. The program is static, so it depends on nothing.
func (m *maker) deb(target, program string) error {
	files, err := m.installed(program, "usr/share/zsh/vendor-completions")
	if err != nil {
		return err
	}
	architecture := strings.TrimPrefix(target, "linux/") // as Debian names it
	size, sums := 0, ""
	for _, f := range files {
		size += (len(f.data) + 1023) / 1024
		sums += fmt.Sprintf("%x  %s\n", md5.Sum(f.data), f.name)
	}
	control := fmt.Sprintf("Package: mnem\nVersion: %s\nArchitecture: %s\nMaintainer: %s\nInstalled-Size: %d\nSection: utils\n"+
		"Priority: optional\nHomepage: %s\nDescription: %s\n %s\n",
		m.packageVersion(), architecture, maintainer, size, homepage, summary, description)
	var about, data bytes.Buffer
	if err := writeTarGz(&about, []file{{"control", 0o644, []byte(control)}, {"md5sums", 0o644, []byte(sums)}}, m.time); err != nil {
		return err
	}
	if err := writeTarGz(&data, files, m.time); err != nil {
		return err
	}
	return m.write(m.base(target)+".deb", func(w io.Writer) error {
		return writeAr(w, m.time, []file{
			{"debian-binary", 0o100644, []byte("2.0\n")},
			{"control.tar.gz", 0o100644, about.Bytes()},
			{"data.tar.gz", 0o100644, data.Bytes()},
		})
	})
}

// writeAr writes an archive of ar: 60 bytes before each member, which begins at an even place.
func writeAr(w io.Writer, at time.Time, files []file) error {
	if _, err := fmt.Fprint(w, "!<arch>\n"); err != nil {
		return err
	}
	for _, f := range files {
		_, err := fmt.Fprintf(w, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", f.name, at.Unix(), 0, 0, f.mode, len(f.data))
		if err != nil {
			return err
		}
		if len(f.data)%2 == 1 {
			f.data = append(f.data[:len(f.data):len(f.data)], '\n')
		}
		if _, err := w.Write(f.data); err != nil {
			return err
		}
	}
	return nil
}

// rpm writes a package for RPM, which is not signed.
func (m *maker) rpm(target, program string) error {
	files, err := m.installed(program, "usr/share/zsh/site-functions")
	if err != nil {
		return err
	}
	licence, err := os.ReadFile(m.root + "/LICENSE")
	if err != nil {
		return err
	}
	files = append(files, file{"usr/share/licenses/mnem/LICENSE", 0o644, licence})
	pack, err := rpmpack.NewRPM(rpmpack.RPMMetaData{
		Name: "mnem", Version: m.packageVersion(), Release: "1", Summary: summary, Description: description, URL: homepage,
		Licence: "Apache-2.0", Packager: maintainer, Vendor: "The mnem authors", BuildTime: m.time, BuildHost: "localhost",
		Arch: map[string]string{"linux/amd64": "x86_64", "linux/arm64": "aarch64"}[target], Compressor: "gzip:6",
	})
	if err != nil {
		return err
	}
	for _, f := range files {
		pack.AddFile(rpmpack.RPMFile{
			Name: "/" + f.name, Body: f.data, Mode: uint(f.mode), Owner: "root", Group: "root", MTime: uint32(m.time.Unix()),
		})
	}
	return m.write(m.base(target)+".rpm", func(w io.Writer) error { return pack.Write(w) })
}
