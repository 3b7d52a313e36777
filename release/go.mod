module github.com/mnem-project/mnem/release

go 1.26.0

require (
	github.com/google/rpmpack v0.7.1
	github.com/klauspost/compress v1.18.0
	golang.org/x/crypto/x509roots/fallback v0.0.0-20261030153154-30a33513ff6d
)

require (
	github.com/cavaliergopher/cpio v1.0.1 // indirect
	github.com/klauspost/pgzip v1.2.6 // indirect
	github.com/ulikunitz/xz v0.5.12 // indirect
)
