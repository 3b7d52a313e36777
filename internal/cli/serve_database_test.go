package cli_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/pgserver"
)

// answered is an answer over HTTP.
type answered struct {
	status int
	header http.Header
	body   string
}

// ask sends a request, with a body where that is not "", and a token where that is not "".
func ask(t *testing.T, url, token, body string) answered {
	t.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }() // it is read below
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answered{res.StatusCode, res.Header, string(text)}
}

func (a answered) want(t *testing.T, status int, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(a.body, part) {
			t.Errorf("%q is missing", part)
			status = -1
		}
	}
	if a.status != status {
		t.Errorf("status %d, want %d: %s", a.status, status, a.body)
	}
}

// TestManyOfDatabase has two servers answer for the repositories of one database, with tokens and quotas of each.
func TestManyOfDatabase(t *testing.T) {
	server := pgserver.Start(t)
	w := newTeam(t, carriers()[0])
	database := server.URL("main")
	w.env["XDG_DATA_HOME"] = filepath.Join(w.dir, "data")
	served := func(machine string, args ...string) string {
		app := in(w.dir, nil, io.Discard)
		app.Data, app.Config = filepath.Join(w.dir, "data-of-"+machine), filepath.Join(w.dir, "config-of-"+machine)
		ran(t, app, "config", "set", "--user", "client", "client-of-"+machine) // as commands there would make one up
		return serving(t, app, args...)
	}
	w.refused(3, "no tables in the database", "a", "serve", "--many", "-R", database)
	for _, args := range [][]string{
		{"--many"}, {"--many", "-R", "here"}, {"--many", "--root", ".", "-R", database}, {"--many", "--stdio", "-R", database},
		{"--root", ".", "--quota-blocks", "5"}, {"--root", ".", "--open", "0"}, {"--root", ".", "--quota-commits", "-1"},
		{"--root", ".", "--drain", "2h"},
	} {
		if _, errs := w.run(2, "a", "", append([]string{"serve"}, args...)...); errs == "" {
			t.Errorf("%q says nothing", args)
		}
	}
	var ada, root, eve struct{ Token string }
	x, y := server.URL("team/x"), server.URL("y")
	w.ok("a", "-R", x, "init")
	w.ok("a", "-R", y, "init")
	w.json(&ada, "a", "-R", x, "token", "new", "ada", "--scope", "write", "--author", "Ada")
	w.json(&root, "a", "-R", x, "token", "new", "root", "--scope", "admin", "--author", "Root")
	w.json(&eve, "a", "-R", y, "token", "new", "ada", "--scope", "write", "--author", "Eve")
	w.refused(1, "revoke it first", "a", "-R", x, "token", "new", "ada")
	if list := w.ok("a", "-R", x, "token", "list"); strings.Count(list, "\n") != 2 || !strings.Contains(list, "root") {
		t.Error(list)
	}
	args := []string{"-R", database, "--many", "--need-token", "--open", "1", "--quota-commits", "4", "--quota", "1MiB"}
	one := served("one", args...)
	two := served("two", args...)
	remember := func(n int) string { return fmt.Sprintf(`{"text":"Lamp %d is lit in room %d"}`, n, n*7) }
	for n, base := range []string{one, two} { // init is one
		ask(t, base+"/team/x/v1/remember", ada.Token, remember(n)).want(t, 200)
		ask(t, base+"/team/x/v1/status", ada.Token, "").want(t, 200, `"client":"servers"`)
		ask(t, base+"/y/v1/ls", ada.Token, "").want(t, 401)
		ask(t, base+"/none/v1/ls", ada.Token, "").want(t, 401)
		ask(t, base+"/y/v1/ls", eve.Token, "").want(t, 200, `"nodes":[]`)
		ask(t, base+"/readyz", "", "").want(t, 200)
	}
	for _, base := range []string{one, two} {
		ask(t, base+"/team/x/v1/ls", ada.Token, "").want(t, 200, "Lamp 0", "Lamp 1")
	}
	ask(t, one+"/team/x/v1/remember", ada.Token, remember(2)).want(t, 200)
	full := ask(t, two+"/team/x/v1/remember", ada.Token, remember(3))
	full.want(t, 429, "as often today as it may be", `"quota"`)
	if after := full.header.Get("Retry-After"); after == "" {
		t.Error("no Retry-After")
	}
	ask(t, one+"/team/x/v1/gc", root.Token, "{}").want(t, 200)
	ask(t, one+"/y/v1/remember", eve.Token, remember(4)).want(t, 200)
	ask(t, one+"/team/x/v1/ls", ada.Token, "").want(t, 200)
	metrics := ask(t, one+"/team/x/metrics", ada.Token, "")
	metrics.want(t, 200, `mnem_repository_commits_today{repository="team/x"} `, `mnem_repository_blocks{repository="team/x"} `,
		`mnem_http_requests_total{code="ok",method="GET",operation="ls",repository="team/x",status="200"}`)
	if strings.Contains(metrics.body, `repository="y"`) || strings.Contains(metrics.body, "go_goroutines") {
		t.Error("it tells of others")
	}
	ask(t, one+"/team/x/metrics", "", "").want(t, 401)
	ask(t, one+"/metrics", root.Token, "").want(t, 401) // a token is one of a repository
	w.ok("a", "-R", x, "token", "revoke", "ada")
	for _, base := range []string{one, two} {
		ask(t, base+"/team/x/v1/ls", ada.Token, "").want(t, 401)
	}

	alone := served("alone", "-R", y, "--need-token", "--quota-blocks", "1")
	ask(t, alone+"/v1/ls", eve.Token, "").want(t, 200, "Lamp 4")
	ask(t, alone+"/v1/remember", eve.Token, remember(5)).want(t, 507, "as many blocks as it may have")
	ask(t, alone+"/metrics", eve.Token, "").want(t, 200, "mnem_repository_bytes ")
}

// TestMetricsAlone has metrics on an address of their own, where no token is needed.
func TestMetricsAlone(t *testing.T) {
	w := newTeam(t, carriers()[0])
	var ada struct{ Token string }
	w.ok("root/x", "init")
	w.json(&ada, "root/x", "token", "new", "ada")
	at := freeAddr(t)
	base := served(t, filepath.Join(w.dir, "root"), "--root", ".", "--need-token", "--metrics", at)
	ask(t, base+"/x/v1/ls", "", "").want(t, 401)
	ask(t, base+"/x/v1/ls", ada.Token, "").want(t, 200)
	ask(t, base+"/x/v1/ls", ada.Token+"0", "").want(t, 401)
	ask(t, "http://"+at+"/metrics", "", "").want(t, 200, "go_goroutines", "mnem_http_connections ",
		`mnem_http_requests_total{code="ok",method="GET",operation="ls",repository="x",status="200"} 1`,
		`mnem_repository_bytes{repository="x"} `)
	ask(t, "http://"+at+"/readyz", "", "").want(t, 200)
	ask(t, "http://"+at+"/x/v1/ls", "", "").want(t, 404)
	ask(t, "http://"+at+"/metrics", "", "x").want(t, 405)
	w.refused(1, "--metrics", "root/x", "serve", "--addr", "127.0.0.1:0", "--metrics", at)
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // nothing was accepted
	return l.Addr().String()
}
