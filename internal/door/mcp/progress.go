package mcp

import (
	"context"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// progressEvery is how often a client that asked for it hears that its call is being worked on.
const progressEvery = time.Second

// progress tells a client that asked for it that a call is being worked on: at once, and each second
// until the returned function is called, with the seconds gone by. Operations do not say how much is
// left, so there is no total.
func (s *Server) progress(ctx context.Context, req *sdk.CallToolRequest) (done func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	notify := func(seconds int) {
		err := req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
			ProgressToken: token, Progress: float64(seconds), Message: req.Params.Name + " is running",
		})
		if err != nil {
			s.log.Debug("progress not told", "error", err)
		}
	}
	notify(0)
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for n := 1; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				notify(n)
			}
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}
