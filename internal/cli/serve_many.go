package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/mnem-project/mnem/internal/filestate"
	"github.com/mnem-project/mnem/peers"
	"github.com/mnem-project/mnem/remote"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/serve"
)

const (
	// maxServed is how many repositories a server has open at once, quotaAge for how long it believes how many bytes
	// one has.
	maxServed = 16
	quotaAge  = 5 * time.Second
	uploadDir = "uploads"
)

// many are the repositories under a directory that one server answers for, each opened when it is asked for.
type many struct {
	c     *cli
	root  string
	quota int64 // bytes of each, 0 for no bound
	top   *serve.Server
	cfg   serve.Config

	mu   sync.Mutex
	open map[string]*served
	tick int64
}

// served is a repository that is open for the server.
type served struct {
	server *serve.Server
	holder *peers.Holder
	users  int
	used   int64 // when it was used last, in ticks
}

// serveMany serves all repositories under a directory until the context ends.
func (c *cli) serveMany(ctx context.Context, f serveFlags, cfg *serve.Config) (err error) {
	root := c.absolute(f.root)
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return hint(&repo.NotFoundError{What: "directory", Name: f.root}, "name a directory with repositories in it")
	}
	m := &many{c: c, root: root, open: make(map[string]*served), cfg: *cfg}
	if m.quota, err = f.quotaBytes(); err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", f.addr)
	if err != nil {
		return hint(err, "name another address with --addr; port 0 takes a free one")
	}
	defer func() { _ = l.Close() }() // the server has closed it, unless it never began
	tcp, ok := l.Addr().(*net.TCPAddr)
	cfg.Loopback = ok && tcp.IP.IsLoopback()
	cfg.NeedToken = cfg.NeedToken || !cfg.Loopback
	cfg.Token, cfg.Under = nil, m.find
	m.cfg.Loopback, m.cfg.NeedToken = cfg.Loopback, cfg.NeedToken
	m.top = serve.New(*cfg)
	defer func() { err = firstError(err, m.close()) }()
	if err := c.sayServes("http://"+l.Addr().String(), root); err != nil {
		return err
	}
	return m.top.Serve(ctx, l)
}

// quotaBytes reads --quota.
func (f *serveFlags) quotaBytes() (int64, error) {
	if f.quota == "" {
		return 0, nil
	}
	n, err := parseSize(f.quota)
	if err != nil {
		return 0, usagef("--quota: %w", err)
	}
	return n, nil
}

// find returns the repository of a name, nil for none.
func (m *many) find(name string) (*serve.Named, error) {
	dir, ok := m.directory(name)
	if !ok {
		return nil, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.open[dir]
	if s == nil {
		if err := m.makeRoom(); err != nil {
			return nil, err
		}
		var err error
		if s, err = m.serve(dir); err != nil {
			return nil, err
		}
		m.open[dir] = s
	}
	m.tick++
	s.users, s.used = s.users+1, m.tick
	return &serve.Named{Server: s.server, Done: sync.OnceFunc(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		s.users--
	})}, nil
}

// directory returns the directory of a repository, in which no link leads elsewhere.
func (m *many) directory(name string) (dir string, ok bool) {
	local := filepath.FromSlash(name)
	if !filepath.IsLocal(local) {
		return "", false
	}
	root, err := os.OpenRoot(m.root)
	if err != nil {
		return "", false
	}
	defer func() { _ = root.Close() }() // it was read
	info, err := root.Stat(filepath.Join(local, repo.DirName))
	if err != nil || !info.IsDir() {
		return "", false
	}
	return filepath.Join(m.root, local), true
}

// makeRoom closes the repository that was not used for longest, where many are open. It is called under mu.
func (m *many) makeRoom() error {
	if len(m.open) < maxServed {
		return nil
	}
	var oldest string
	for dir, s := range m.open {
		if s.users == 0 && (oldest == "" || s.used < m.open[oldest].used) {
			oldest = dir
		}
	}
	if oldest == "" {
		return fmt.Errorf("%d repositories are in use", len(m.open))
	}
	s := m.open[oldest]
	delete(m.open, oldest)
	return s.holder.Close()
}

// serve makes the server of a repository. It is opened when it is needed.
func (m *many) serve(dir string) (*served, error) {
	c := m.c.aside(context.Background(), dir)
	c.app, c.quietly = m.c.app, false
	h, err := c.newHolder()
	if err != nil {
		return nil, err
	}
	tokens, err := c.tokens()
	if err != nil {
		return nil, err
	}
	cfg := m.cfg
	cfg.Operations, cfg.Runner, cfg.Token = Operations(), c.runner(h, false), tokens.get
	c.limitFiles(&cfg, dir, m.quota)
	return &served{server: m.top.Sub(cfg), holder: h}, nil
}

// close closes all repositories.
func (m *many) close() (err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.open {
		err = errors.Join(err, s.holder.Close())
	}
	clear(m.open)
	return err
}

// limitFiles gives a server what bounds the files of a repository, and takes uploads into them.
func (c *cli) limitFiles(cfg *serve.Config, dir string, quota int64) {
	path := filepath.Join(dir, repo.DirName)
	q := &quotaOf{path: path, most: quota, now: cfg.Now}
	if quota > 0 {
		cfg.Room = q.room
	}
	cfg.Uploads = &serve.Uploads{Dir: filepath.Join(path, uploadDir), Now: cfg.Now, Room: func() int64 {
		left := int64(remote.MaxPack)
		if free, ok := filestate.FreeSpace(path); ok {
			left = int64(min(uint64(left), free/2))
		}
		if quota > 0 {
			left = min(left, max(0, quota-q.size()))
		}
		return left
	}}
}

// quotaOf bounds how many bytes the files of a repository have.
type quotaOf struct {
	path string
	most int64
	now  func() time.Time

	mu    sync.Mutex
	bytes int64
	at    time.Time
}

// room returns serve.ErrQuota where there is no room for n bytes more.
func (q *quotaOf) room(n int64) error {
	if q.size()+n <= q.most {
		return nil
	}
	q.mu.Lock()
	q.at = time.Time{} // a collection may have made room since
	q.mu.Unlock()
	if q.size()+n <= q.most {
		return nil
	}
	return fmt.Errorf("%w: %s", serve.ErrQuota, bytesText(q.most))
}

// size returns how many bytes the files have. It asks the system now and then.
func (q *quotaOf) size() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	if now := q.now(); q.at.IsZero() || now.Sub(q.at) > quotaAge || now.Before(q.at) {
		q.bytes, q.at = 0, now
		_ = filepath.WalkDir(q.path, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				if info, err := d.Info(); err == nil { // what is gone by now has none
					q.bytes += info.Size()
				}
			}
			return nil
		})
	}
	return q.bytes
}
