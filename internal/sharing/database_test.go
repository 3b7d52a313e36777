package sharing_test

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/pgserver"
	"github.com/mnem-project/mnem/internal/testkit/program"
)

// TestManyOfDatabase has two servers answer for the repositories of one database, with tokens and quotas of each.
func TestManyOfDatabase(t *testing.T) {
	t.Parallel()
	server := pgserver.Start(t)
	w := newTeam(t, over(t, "path"))
	database := server.URL("main")
	w.env["XDG_DATA_HOME"] = filepath.Join(w.dir, "data")
	served := func(machine string, args ...string) string {
		app := program.In(w.dir, nil, io.Discard)
		app.Data, app.Config = filepath.Join(w.dir, "data-of-"+machine), filepath.Join(w.dir, "config-of-"+machine)
		program.Ran(t, app, "config", "set", "--user", "client", "client-of-"+machine) // as commands there would make one up
		return program.Serve(t, app, args...)
	}
	w.refused(3, "no tables in the database", "a", "serve", "--all", "-R", database)
	for _, args := range [][]string{
		{"--all"}, {"--all", "-R", "here"}, {"--all", "--root", ".", "-R", database}, {"--all", "--stdio", "-R", database},
		{"--root", ".", "--limit", "blocks=5"}, {"--root", ".", "--limit", "open=0"}, {"--root", ".", "--limit", "commits=-1"},
		{"--root", ".", "--limit", "drain=2h"},
	} {
		if _, errs := w.run(2, "a", "", append([]string{"serve"}, args...)...); errs == "" {
			t.Errorf("%q says nothing", args)
		}
	}
	var ada, root, eve struct{ Token string }
	x, y := server.URL("team/x"), server.URL("y")
	w.ok("a", "-R", x, "init")
	w.ok("a", "-R", y, "init")
	w.json(&ada, "a", "-R", x, "serve", "token", "new", "ada", "--scope", "write", "--author", "Ada")
	w.json(&root, "a", "-R", x, "serve", "token", "new", "root", "--scope", "admin", "--author", "Root")
	w.json(&eve, "a", "-R", y, "serve", "token", "new", "ada", "--scope", "write", "--author", "Eve")
	w.refused(1, "revoke it first", "a", "-R", x, "serve", "token", "new", "ada")
	if list := w.ok("a", "-R", x, "serve", "token", "list"); strings.Count(list, "\n") != 2 || !strings.Contains(list, "root") {
		t.Error(list)
	}
	args := []string{"-R", database, "--all", "--need-token", "--limit", "open=1", "--limit", "commits=4", "--limit", "size=1MiB"}
	one := served("one", args...)
	two := served("two", args...)
	remember := func(n int) string { return fmt.Sprintf(`{"text":"Lamp %d is lit in room %d"}`, n, n*7) }
	for n, base := range []string{one, two} { // init is one
		program.Ask(t, base+"/team/x/v1/remember", ada.Token, remember(n)).Want(t, 200)
		program.Ask(t, base+"/team/x/v1/status", ada.Token, "").Want(t, 200, `"client":"servers"`)
		program.Ask(t, base+"/y/v1/ls", ada.Token, "").Want(t, 401)
		program.Ask(t, base+"/none/v1/ls", ada.Token, "").Want(t, 401)
		program.Ask(t, base+"/y/v1/ls", eve.Token, "").Want(t, 200, `"nodes":[]`)
		program.Ask(t, base+"/readyz", "", "").Want(t, 200)
	}
	for _, base := range []string{one, two} {
		program.Ask(t, base+"/team/x/v1/ls", ada.Token, "").Want(t, 200, "Lamp 0", "Lamp 1")
	}
	program.Ask(t, one+"/team/x/v1/remember", ada.Token, remember(2)).Want(t, 200)
	full := program.Ask(t, two+"/team/x/v1/remember", ada.Token, remember(3))
	full.Want(t, 429, "as often today as it may be", `"quota"`)
	if after := full.Header.Get("Retry-After"); after == "" {
		t.Error("no Retry-After")
	}
	program.Ask(t, one+"/team/x/v1/gc", root.Token, "{}").Want(t, 200)
	program.Ask(t, one+"/y/v1/remember", eve.Token, remember(4)).Want(t, 200)
	program.Ask(t, one+"/team/x/v1/ls", ada.Token, "").Want(t, 200)
	metrics := program.Ask(t, one+"/team/x/metrics", ada.Token, "")
	metrics.Want(t, 200, `mnem_repository_commits_today{repository="team/x"} `, `mnem_repository_blocks{repository="team/x"} `,
		`mnem_http_requests_total{code="ok",method="GET",operation="ls",repository="team/x",status="200"}`)
	if strings.Contains(metrics.Body, `repository="y"`) || strings.Contains(metrics.Body, "go_goroutines") {
		t.Error("it tells of others")
	}
	program.Ask(t, one+"/team/x/metrics", "", "").Want(t, 401)
	program.Ask(t, one+"/metrics", root.Token, "").Want(t, 401) // a token is one of a repository
	w.ok("a", "-R", x, "serve", "token", "revoke", "ada")
	for _, base := range []string{one, two} {
		program.Ask(t, base+"/team/x/v1/ls", ada.Token, "").Want(t, 401)
	}

	alone := served("alone", "-R", y, "--need-token", "--limit", "blocks=1")
	program.Ask(t, alone+"/v1/ls", eve.Token, "").Want(t, 200, "Lamp 4")
	program.Ask(t, alone+"/v1/remember", eve.Token, remember(5)).Want(t, 507, "as many blocks as it may have")
	program.Ask(t, alone+"/metrics", eve.Token, "").Want(t, 200, "mnem_repository_bytes ")
}

// TestMetricsAlone has metrics on an address of their own, if no token is needed.
func TestMetricsAlone(t *testing.T) {
	w := newTeam(t, over(t, "path"))
	var ada struct{ Token string }
	w.ok("root/x", "init")
	w.json(&ada, "root/x", "serve", "token", "new", "ada")
	at := program.FreeAddr(t)
	base := served(t, filepath.Join(w.dir, "root"), "--root", ".", "--need-token", "--metrics", at)
	program.Ask(t, base+"/x/v1/ls", "", "").Want(t, 401)
	program.Ask(t, base+"/x/v1/ls", ada.Token, "").Want(t, 200)
	program.Ask(t, base+"/x/v1/ls", ada.Token+"0", "").Want(t, 401)
	program.Ask(t, "http://"+at+"/metrics", "", "").Want(t, 200, "go_goroutines", "mnem_http_connections ",
		`mnem_http_requests_total{code="ok",method="GET",operation="ls",repository="x",status="200"} 1`,
		`mnem_repository_bytes{repository="x"} `)
	program.Ask(t, "http://"+at+"/readyz", "", "").Want(t, 200)
	program.Ask(t, "http://"+at+"/x/v1/ls", "", "").Want(t, 404)
	program.Ask(t, "http://"+at+"/metrics", "", "x").Want(t, 405)
	w.refused(1, "--metrics", "root/x", "serve", "--addr", "127.0.0.1:0", "--metrics", at)
}
