package serving

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"

	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/serve"
	"github.com/mnem-project/mnem/internal/door/shelf"
	"github.com/mnem-project/mnem/internal/door/verbs"
	"github.com/mnem-project/mnem/internal/exchange/remote"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb/peers"
)

const (
	// defaultOpen is how many repositories a server has open at once.
	defaultOpen = 16
	maxOpen     = 10_000
	uploadDir   = "uploads"
)

// many are the repositories that one server answers for, each opened when it is asked for.
type many struct {
	c     *line.Line
	in    shelf.Shelf
	most  int // that are open at once
	quota serve.Quota
	top   *serve.Server
	cfg   serve.Config

	mu   sync.Mutex
	open map[string]*served
	tick int64
}

type served struct {
	cfg    serve.Config
	server *serve.Server
	holder *peers.Holder
	users  int
	used   int64 // when it was used last, in ticks
}

// openShelf returns where --root or --all says that repositories are.
func openShelf(c *line.Line, f *serveRequest) (shelf.Shelf, error) {
	if !f.Many {
		root := c.Absolute(f.Root)
		if info, err := os.Stat(root); err != nil || !info.IsDir() {
			return nil, line.Hint(&state.NotFoundError{What: "directory", Name: f.Root}, "name a directory with repositories in it")
		}
		return shelf.In(root, c.App.Now), nil
	}
	at := line.FirstOf(c.Global.Repo, c.Env("MNEM_REPO"))
	if !core.IsDatabase(at) {
		return nil, line.Usagef("--all serves the repositories of a database: name it with -R postgres://HOST/DATABASE")
	}
	d, _, err := core.OpenDatabase(at)
	if err != nil {
		return nil, err
	}
	if err := d.Ready(context.Background(), c.Global.Wait); err != nil {
		d.Close()
		return nil, line.Hint(err, "'mnem -R postgres://HOST/DATABASE?repository=NAME init' makes the first one")
	}
	return shelf.InDatabase(d, core.ShownDatabase(at), c.ClientDir, c.App.Now), nil
}

// serveMany serves all repositories under a directory, or in a database, until the context ends.
func serveMany(ctx context.Context, c *line.Line, f *serveRequest, bounds limits, cfg *serve.Config) (err error) {
	in, err := openShelf(c, f)
	if err != nil {
		return err
	}
	defer in.Close()
	m := &many{c: c, in: in, most: int(bounds.Open), open: make(map[string]*served), cfg: *cfg}
	if m.quota, err = bounds.quota(in.Counts()); err != nil {
		return err
	}
	l, err := listenTCP(ctx, f.Addr, "--addr")
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }() // the server has closed it, unless it never began
	tcp, ok := l.Addr().(*net.TCPAddr)
	cfg.Loopback = ok && tcp.IP.IsLoopback()
	cfg.NeedToken = cfg.NeedToken || !cfg.Loopback
	cfg.Token, cfg.Under, cfg.Ready = nil, m.find, in.Ready
	m.cfg.Loopback, m.cfg.NeedToken = cfg.Loopback, cfg.NeedToken
	m.top = serve.New(*cfg)
	defer func() { err = line.FirstError(err, m.close()) }()
	end, err := serveMetrics(ctx, c, f, m.top)
	if err != nil {
		return err
	}
	defer end()
	if err := sayServes(c, "http://"+l.Addr().String(), in.Shown()); err != nil {
		return err
	}
	return m.top.Serve(ctx, l)
}

// serveMetrics answers --metrics next to a server, until what it returns is called.
func serveMetrics(ctx context.Context, c *line.Line, f *serveRequest, s *serve.Server) (end func(), err error) {
	if f.Metrics == "" {
		return func() {}, nil
	}
	l, err := listenTCP(ctx, f.Metrics, "--metrics")
	if err != nil {
		return func() {}, err
	}
	c.Remark("metrics at http://%s/metrics", l.Addr())
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // as long as the server answers
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := s.ServeMetrics(ctx, l); err != nil {
			c.Remark("metrics are not answered any more: %s", line.OneLine(err.Error()))
		}
	}()
	return func() { cancel(); <-ended }, nil
}

// find returns the repository of a name, nil for none.
func (m *many) find(name string) (*serve.Named, error) {
	m.mu.Lock()
	there := m.use(name)
	m.mu.Unlock()
	if there != nil {
		return there, nil
	}
	dir, err := m.in.Find(name)
	if dir == "" || err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.open[name] == nil {
		s, err := m.serve(name, dir)
		if err == nil {
			err = m.makeRoom()
		}
		if err != nil {
			return nil, err
		}
		s.server = m.top.Sub(s.cfg)
		m.open[name] = s
	}
	return m.use(name), nil
}

// use begins a use of a repository that is open, nil if it is not. It is called under mu.
func (m *many) use(name string) *serve.Named {
	s := m.open[name]
	if s == nil {
		return nil
	}
	m.tick++
	s.users, s.used = s.users+1, m.tick
	return &serve.Named{Server: s.server, Done: sync.OnceFunc(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		s.users--
	})}
}

// makeRoom closes the repository that was not used for longest, if many are open. It is called under mu.
func (m *many) makeRoom() error {
	if len(m.open) < m.most {
		return nil
	}
	var oldest string
	for name, s := range m.open {
		if s.users == 0 && (oldest == "" || s.used < m.open[oldest].used) {
			oldest = name
		}
	}
	if oldest == "" {
		return fmt.Errorf("%d repositories are in use", len(m.open))
	}
	s := m.open[oldest]
	delete(m.open, oldest)
	m.top.Drop(s.server)
	return s.holder.Close()
}

// serve makes the server of a repository. It is opened when it is needed.
func (m *many) serve(name, dir string) (*served, error) {
	c := reach.Aside(context.Background(), m.c, dir)
	c.App, c.Quietly, c.Client = m.c.App, false, line.ServersClient
	h, err := reach.NewHolderOf(c, m.most)
	if err != nil {
		return nil, err
	}
	cfg, one := m.cfg, m.in.One(name, dir)
	cfg.Name, cfg.Operations, cfg.Runner, cfg.Token = name, verbs.Operations(), verbs.Runner(c, h, false), one.Tokens.Get
	cfg.Quota, cfg.Usage = m.quota, one.Usage
	takeUploads(c, &cfg, dir)
	return &served{cfg: cfg, holder: h}, nil
}

func (m *many) close() (err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.open {
		err = errors.Join(err, s.holder.Close())
	}
	clear(m.open)
	return err
}

// takeUploads has a server take uploads into the files of a repository, within its quota of bytes.
func takeUploads(c *line.Line, cfg *serve.Config, dir string) {
	path := filepath.Join(dir, core.DirName)
	quota, usage := cfg.Quota.Bytes, cfg.Usage
	cfg.Uploads = &serve.Uploads{Dir: filepath.Join(path, uploadDir), Now: cfg.Now, Room: func() int64 {
		left := int64(remote.MaxPack)
		if free, ok := filestate.FreeSpace(path); ok {
			left = int64(min(uint64(left), free/2))
		}
		if quota > 0 {
			u, err := usage(false)
			if err != nil {
				return 0
			}
			left = min(left, max(0, quota-u.Bytes))
		}
		return left
	}}
}
