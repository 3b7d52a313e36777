package cli

import (
	"bufio"
	"context"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// startOAuth runs 'mnem mcp --addr --oauth' until the test ends, and returns its address.
func startOAuth(t *testing.T, w *world) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(t, err)
	at := l.Addr().String()
	if err := l.Close(); err != nil { // the server says its own address to clients, so it must be known before
		t.Fatal(err)
	}
	app := *w.App
	out, in := io.Pipe()
	app.Stdout, app.Stderr = in, io.Discard
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	go func() {
		ended <- Run(ctx, &app, []string{"mcp", "--addr", at, "--oauth", "http://" + at})
		_ = in.Close() // a pipe in memory
	}()
	t.Cleanup(func() {
		cancel()
		must.Equal(t, <-ended, 0, "mcp ended")
	})
	must.OK(t, must.Err(bufio.NewReader(out).ReadString('\n')))
	return "http://" + at
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([a-z_]+)" value="([^"]*)">`)

// asOwner opens the page of a client, gives a token, and presses a button, as a browser does.
func asOwner(t *testing.T, home, token, answer string) auth.AuthorizationCodeFetcher {
	return func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
		client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		res, err := client.Get(args.URL)
		if err != nil {
			return nil, err
		}
		page, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != 200 {
			return nil, fmt.Errorf("%d, %v: %s", res.StatusCode, err, page)
		}
		form := url.Values{"token": {token}, "answer": {answer}}
		for _, field := range hiddenField.FindAllStringSubmatch(string(page), -1) {
			form.Set(field[1], html.UnescapeString(field[2]))
		}
		req, err := http.NewRequestWithContext(ctx, "POST", home+"/oauth/authorize", strings.NewReader(form.Encode()))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", home)
		if res, err = client.Do(req); err != nil {
			return nil, err
		}
		_ = res.Body.Close()
		to, err := res.Location()
		if err != nil {
			return nil, fmt.Errorf("status %d: %w", res.StatusCode, err)
		}
		q := to.Query()
		if q.Get("error") != "" {
			return nil, fmt.Errorf("refused: %s", q.Get("error_description"))
		}
		return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
	}
}

// signsIn connects a client of the protocol's own library that signs in.
func signsIn(t *testing.T, home, token, answer string) (*sdk.ClientSession, error) {
	t.Helper()
	h, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "Tester", RedirectURIs: []string{"http://127.0.0.1:1/cb"},
			GrantTypes: []string{"authorization_code", "refresh_token"},
		}},
		AuthorizationCodeFetcher: asOwner(t, home, token, answer),
	})
	must.OK(t, err)
	client := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, nil)
	return client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: home + "/mcp", OAuthHandler: h}, nil)
}

// TestOAuth lets a client in by the page, has it ask and write, and revokes what it got.
func TestOAuth(t *testing.T) {
	w := demoWorld(t)
	made, _ := w.run(0, "serve", "token", "new", "me", "--scope", "write")
	token := regexp.MustCompile(`mnem_[a-z2-7]{8}_[a-z2-7]+`).FindString(made)
	home := startOAuth(t, w)
	if _, err := signsIn(t, home, token, "refuse"); err == nil || !strings.Contains(err.Error(), "the owner refused") {
		t.Errorf("refused: %v", err)
	}
	session := must.Get(signsIn(t, home, token, "write"))(t)
	defer func() { _ = session.Close() }()
	call := func(name string, args map[string]any) error {
		res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
		if err == nil && res.IsError {
			err = fmt.Errorf("%s: %v", name, res.Content)
		}
		return err
	}
	must.OK(t, call("remember", map[string]any{"text": "The lighthouse is painted in May"}))
	log, _ := w.run(0, "log", "-n", "1", "--json")
	must.Contain(t, log, `"Tester"`, "the commit does not name the client")
	listed, _ := w.run(0, "serve", "token", "list")
	name := regexp.MustCompile(`Tester [a-z2-7]{8}`).FindString(listed)
	must.Require(t, name != "" && !strings.Contains(listed, "over"), "listed %s", listed)
	w.run(0, "serve", "token", "revoke", "me")
	if left, _ := w.run(0, "serve", "token", "list"); strings.Contains(left, name) {
		t.Errorf("what a revoked token granted is left: %s", left)
	}
	if err := call("recall", map[string]any{"query": "lighthouse"}); err == nil {
		t.Error("a client whose token was revoked is answered")
	}
	for _, bad := range []string{"http://memory.example.org", "memory.example.org", "https://memory.example.org/x"} {
		w.run(2, "mcp", "--addr", "127.0.0.1:0", "--oauth", bad)
	}
	w.run(2, "mcp", "--oauth", home)
}
