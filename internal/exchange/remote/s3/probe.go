package s3

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// racers is how many concurrent writers test a store.
const racers = 8

// ErrUnsafe is returned by Probe for a store in which two writers can win.
var ErrUnsafe = errors.New("the object store does not keep writers apart")

// Probe has several writers concurrently create one object, and then replace it. It returns an error of ErrUnsafe
// unless exactly one of them wins each time. name must be an object with no other use.
func (c *Client) Probe(ctx context.Context, name string) (err error) {
	defer func() {
		if delErr := c.Delete(ctx, name); err == nil {
			err = delErr
		}
	}()
	first, err := c.race(ctx, name, "")
	if err != nil {
		return fmt.Errorf("with If-None-Match: %w", err)
	}
	if _, err = c.race(ctx, name, first); err != nil {
		return fmt.Errorf("with If-Match: %w", err)
	}
	return nil
}

// race returns the tag of the object that the only winner wrote.
func (c *Client) race(ctx context.Context, name, known string) (tag string, err error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	won, wonBy := 0, ""
	for n := range racers {
		wg.Go(func() {
			text := fmt.Sprintf("writer %d after %s\n", n, known)
			o, putErr := c.Put(ctx, name, known, strings.NewReader(text), int64(len(text)))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case putErr == nil:
				won++
				wonBy, tag = text, o.ETag
			case !errors.Is(putErr, ErrMoved):
				err = errors.Join(err, putErr)
			}
		})
	}
	wg.Wait()
	if err != nil {
		return "", err
	}
	got, o, err := c.Bytes(ctx, name, "", 1<<10)
	switch {
	case err != nil:
		return "", err
	case won > 1 || won == 1 && string(got) != wonBy:
		return "", fmt.Errorf("%w: %d of %d writers won", ErrUnsafe, won, racers)
	case won == 0 && !strings.HasSuffix(string(got), " after "+known+"\n"): // otherwise the winner's answer was lost
		return "", fmt.Errorf("%w: none of %d writers won", ErrUnsafe, racers)
	}
	return o.ETag, nil
}
