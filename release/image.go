package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// owner is the user and group that programs of the image run as.
const owner = 65532

// users is the image's /etc/passwd. Data and configurations go into the home of mnem.
const users = "root:x:0:0:root:/root:/\nmnem:x:65532:65532:mnem:/data:/\n"

const (
	layerType    = "application/vnd.oci.image.layer.v1.tar+gzip"
	configType   = "application/vnd.oci.image.config.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	indexType    = "application/vnd.oci.image.index.v1+json"
)

type fields = map[string]any

// image writes an OCI image of the programs for Linux as one file, without base image and without a daemon.
func (m *maker) image(programs map[string]string) error {
	blobs := make(map[string][]byte)
	put := func(kind string, data []byte) fields {
		sum := fmt.Sprintf("%x", sha256.Sum256(data))
		blobs["blobs/sha256/"+sum] = data
		return fields{"mediaType": kind, "digest": "sha256:" + sum, "size": len(data)}
	}
	var manifests []any
	for _, target := range platforms {
		if programs[target] == "" || !strings.HasPrefix(target, "linux/") {
			continue
		}
		layer, plain, err := m.layer(programs[target])
		if err != nil {
			return err
		}
		processor := strings.TrimPrefix(target, "linux/")
		config := put(configType, encoded(m.imageConfig(processor, plain)))
		manifest := put(manifestType, encoded(fields{"schemaVersion": 2, "mediaType": manifestType, "config": config,
			"layers": []any{put(layerType, layer)}}))
		manifest["platform"] = fields{"os": "linux", "architecture": processor}
		manifests = append(manifests, manifest)
	}
	if manifests == nil {
		m.skipped = append(m.skipped, "OCI image: no program for Linux")
		return nil
	}
	platforms := put(indexType, encoded(fields{"schemaVersion": 2, "mediaType": indexType, "manifests": manifests}))
	platforms["annotations"] = fields{"org.opencontainers.image.ref.name": m.version, "io.containerd.image.name": "mnem:" + m.version}
	files := []file{
		{"oci-layout", 0o644, []byte(`{"imageLayoutVersion":"1.0.0"}`)},
		{"index.json", 0o644, encoded(fields{"schemaVersion": 2, "mediaType": indexType, "manifests": []any{platforms}})},
	}
	for name, data := range blobs {
		files = append(files, file{name, 0o644, data})
	}
	sortFiles(files)
	return m.write("mnem_"+m.version+"_image.tar", func(w io.Writer) error { return writeTar(w, files, m.time) })
}

func (m *maker) imageConfig(processor string, plain [sha256.Size]byte) fields {
	return fields{
		"architecture": processor, "os": "linux", "created": m.time.Format(time.RFC3339),
		"config": fields{
			"User":       fmt.Sprintf("%d:%d", owner, owner),
			"Env":        []string{"PATH=/usr/bin", "HOME=/data", "XDG_DATA_HOME=/data", "XDG_CONFIG_HOME=/data"},
			"Entrypoint": []string{"mnem"}, "WorkingDir": "/data",
			"Labels": fields{
				"org.opencontainers.image.title": "mnem", "org.opencontainers.image.description": summary,
				"org.opencontainers.image.version": m.version, "org.opencontainers.image.revision": m.commit,
				"org.opencontainers.image.licenses": "Apache-2.0", "org.opencontainers.image.source": homepage,
			},
		},
		"rootfs":  fields{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", plain)}},
		"history": []any{fields{"created": m.time.Format(time.RFC3339), "created_by": "release"}},
	}
}

// layer returns the one layer, compressed, and the hash of what is compressed.
func (m *maker) layer(program string) ([]byte, [sha256.Size]byte, error) {
	var sum [sha256.Size]byte
	files, err := m.program(program, "usr/bin/mnem")
	if err != nil {
		return nil, sum, err
	}
	licence, err := m.licence()
	if err != nil {
		return nil, sum, err
	}
	files = append([]file{
		{"etc/group", 0o644, []byte("root:x:0:\nmnem:x:65532:\n")},
		{"etc/passwd", 0o644, []byte(users)},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, roots()},
	}, append(files, file{"usr/share/doc/mnem/copyright", 0o644, licence})...)
	var plain bytes.Buffer
	t := tar.NewWriter(&plain)
	for _, dir := range []tar.Header{
		{Name: "data/", Mode: 0o755, Uid: owner, Gid: owner}, {Name: "tmp/", Mode: 0o1777},
	} {
		dir.Typeflag, dir.ModTime = tar.TypeDir, m.time
		if err := t.WriteHeader(&dir); err != nil {
			return nil, sum, err
		}
	}
	if err := t.Flush(); err != nil { // and no end: files follow
		return nil, sum, err
	}
	if err := writeTar(&plain, files, m.time); err != nil {
		return nil, sum, err
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(plain.Bytes()); err != nil {
		return nil, sum, err
	}
	err = z.Close()
	return b.Bytes(), sha256.Sum256(plain.Bytes()), err
}

// roots are the certificates that servers of others are known by. Those with conditions that no file can say are left out.
func roots() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			b.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return b.Bytes()
}

// encoded is JSON whose members are in order.
func encoded(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // made of strings and numbers alone
	}
	return data
}
