package journeys

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

func TestUsedCode(t *testing.T) {
	m := demo(t)
	inside(t, m)
	second := open(t)
	second.okay = []string{"401"}
	second.visit(m.url)
	second.reads("the code was used before", "end 'mnem view' and start it again")
	if at := get[string](second, "location.href"); strings.Contains(at, "code") {
		t.Errorf("address %q", at)
	}
	second.visit(strings.Split(m.url, "#")[0])
	second.reads("Login required")
}

func TestWrongCode(t *testing.T) {
	m := demo(t)
	m.serve("view", "--print")
	b := open(t)
	b.okay = []string{"401"}
	b.visit(m.url + "a")
	b.reads("the code is unknown")
}

func TestMissingCode(t *testing.T) {
	m := demo(t)
	m.serve("view", "--print")
	b := open(t)
	b.okay = []string{"401"}
	b.visit(strings.Split(m.url, "#")[0])
	b.reads("Login required")
	b.do(chromedp.SendKeys("input[name=token]", "wrong\r"))
	b.reads("the token is unknown, revoked or expired")
}

func TestToken(t *testing.T) {
	m := demo(t)
	token := strings.TrimSpace(strings.Split(m.mnem("serve", "token", "new", "notebook", "--quiet"), "\n")[0])
	m.serve("serve", "--need-token", "--addr", "127.0.0.1:0")
	b := open(t)
	b.okay = []string{"401"}
	b.visit(m.url)
	b.reads("enter a token")
	b.do(chromedp.SendKeys("input[name=token]", token+"\r"))
	b.reads("218 memories", "notebook", "read only")
	b.click("button", "Log out")
	b.reads("enter a token")
}

func TestOpenServer(t *testing.T) {
	m := demo(t)
	m.serve("serve", "--addr", "127.0.0.1:0")
	b := open(t)
	b.visit(m.url)
	b.reads("218 memories", "read and write")
}

func TestServerGoneAndBack(t *testing.T) {
	m := demo(t)
	m.serve("serve", "--addr", "127.0.0.1:0")
	b := open(t)
	b.okay = []string{"ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_CONNECTION_RESET", "503"}
	b.visit(m.url)
	b.reads("218 memories")
	at := strings.TrimPrefix(m.url, "http://")
	m.stop()
	b.reads("The server does not respond")
	b.shot("gone")
	m.serve("serve", "--addr", at)
	b.wait("!document.body.innerText.includes('The server does not respond')")
	m.mnem("remember", "Zoe keeps the lighthouse")
	b.reads("219 memories")
}
