package mcp_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnem-project/mnem/internal/door/mcp"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestSubscribersThatGo has clients subscribe to as much as there may be and go without a word, which
// must not keep others from it.
func TestSubscribersThatGo(t *testing.T) {
	sv := server(memory(t, facts), mcp.ServerOptions{})
	web := httptest.NewServer(sv.Handler())
	defer web.Close()
	defer sv.Close(context.WithoutCancel(t.Context()))
	told := make(chan string, 10)
	join := func() *sdk.ClientSession {
		t.Helper()
		client := sdk.NewClient(&sdk.Implementation{Name: "c", Version: "1"}, &sdk.ClientOptions{
			ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) {
				told <- r.Params.URI
			},
		})
		s, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: web.URL},
			&sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		must.OK(t, err)
		return s
	}
	first := join()
	for i := range 1000 {
		err := first.Subscribe(t.Context(), &sdk.SubscribeParams{URI: fmt.Sprintf("mnem://node/n%d", i)})
		must.OK(t, err)
	}
	second := join()
	defer func() { _ = second.Close() }()
	const uri = "mnem://node/fresh"
	if err := second.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err == nil {
		t.Error("there is no bound")
	}
	must.OK(t, first.Close())
	must.OK(t, second.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}))
	call(t, second, "commit", map[string]any{"message": "m", "nodes": []any{
		map[string]any{"key": "fresh", "type": "T", "summary": "new"},
	}})
	select {
	case got := <-told:
		must.Equal(t, got, uri, "reported")
	case <-time.After(20 * time.Second):
		t.Error("the change was not told")
	}
}
