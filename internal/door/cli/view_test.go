package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/door/serving"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestOpenByFile sees to it that no program is started with the code in its arguments.
func TestOpenByFile(t *testing.T) {
	const url = "http://127.0.0.1:1/#code=secret"
	var opened string
	remove, err := serving.OpenByFile(t.Context(), url, func(_ context.Context, path string) error {
		opened = path
		data, err := os.ReadFile(path)
		if err != nil || strings.Count(string(data), `"`+url+`"`) != 1 || !strings.Contains(string(data), "url="+url) {
			t.Errorf("%v: %s", err, data)
		}
		return nil
	})
	if err != nil || strings.Contains(opened, "secret") {
		t.Fatalf("%q, %v", opened, err)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(opened)); !os.IsNotExist(err) {
		t.Errorf("the file stays: %v", err)
	}
	none := errors.New("no browser")
	remove, err = serving.OpenByFile(t.Context(), url, func(context.Context, string) error { return none })
	must.True(t, errors.Is(err, none) && remove() == nil, "%v", err)
}
