package intent

import (
	"os"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestRead reads questions of our own writing.
func TestRead(t *testing.T) {
	b, err := os.ReadFile("testdata/questions.txt")
	must.OK(t, err)
	names := map[string]Intent{"why": Why, "when": When, "entity": Entity, "general": General}
	n := 0
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		name, question, _ := strings.Cut(line, " ")
		want, ok := names[name]
		if !ok {
			t.Fatalf("no intent %q", name)
		}
		if got := Read(question); got != want {
			t.Errorf("%q: intent %d, want %s", question, got, name)
		}
		n++
	}
	if n < 60 {
		t.Errorf("%d questions", n)
	}
}

func TestReadBounds(t *testing.T) {
	long := strings.Repeat("x ", maxScalars/2)
	if got := Read(long + "why"); got != General {
		t.Errorf("a word after %d scalars counts: %d", maxScalars, got)
	}
	if got := Read(long[2:] + "why"); got != General {
		t.Errorf("half a word counts: %d", got)
	}
	if got := Read(long[4:] + "why"); got != Why {
		t.Errorf("a word before the end does not count: %d", got)
	}
	for _, s := range []string{"", " ", "\xff\xfe", "\x00why\x00", "?", "为", "the"} {
		want := General
		if strings.Contains(s, "why") {
			want = Why
		}
		if got := Read(s); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, s := range []string{"how any why", "why here why", "why any ;", "lead ;"} {
		if _, err := parse(s); err == nil {
			t.Errorf("%q was read", s)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("Why did it fail?")
	f.Add("什么时候为什么")
	f.Fuzz(func(t *testing.T, s string) {
		if got := Read(s); got > General {
			t.Fatalf("intent %d", got)
		}
	})
}

// TestPast asks in twelve languages how things were, and how they are.
func TestPast(t *testing.T) {
	past := []string{
		"What did we use before Postgres?", "who used to lead the team", "until when was the shop open on Sundays",
		"what changed in the release process", "the previous address", "Where was the office originally?",
		"Wer war vorher zuständig?", "Bis wann galt der alte Tarif?", "Was hat sich am Ablauf geändert?", "früherer Lieferant",
		"Qui s'en occupait avant ?", "l'ancienne adresse", "Jusqu'à quand le bureau était-il ouvert ?",
		"¿Quién lo llevaba antes?", "¿hasta cuándo valió la tarifa?", "la dirección anterior",
		"Quem cuidava disso antes?", "até quando valeu a tarifa", "o que mudou",
		"Chi se ne occupava in precedenza?", "prima di maggio quanto costava", "cosa è cambiato",
		"Wie deed dit vroeger?", "tot wanneer gold het tarief", "wat is er veranderd",
		"Кто занимался этим раньше?", "до каких пор действовал тариф", "что изменилось",
		"之前是谁负责的？", "原来的地址", "以前は誰が担当でしたか", "営業時間はいつまででしたか", "昔の住所",
		"예전 담당자는 누구였나요?", "언제까지 열었나요", "ก่อนหน้านี้ใครดูแล", "ที่อยู่เดิม",
	}
	for _, s := range past {
		if !Past(s) {
			t.Errorf("%q does not ask about the past", s)
		}
	}
	for _, s := range []string{
		"", "What do we use?", "who leads the team", "how do I change the filter?", "where is the office",
		"Wer ist zuständig?", "Was kostet eine Stunde?", "Qui s'en occupe ?", "quelle adresse", "¿Quién lo lleva?",
		"Quem cuida disso?", "Chi se ne occupa?", "la prima volta", "Wie doet dit?", "voor wie is het", "Кто этим занимается?",
		"谁负责？", "地址在哪里", "担当者の名前は何ですか", "午前の会議", "담당자는 누구인가요?", "오전에 회의", "ใครดูแล",
	} {
		if Past(s) {
			t.Errorf("%q asks about the past", s)
		}
	}
}

// TestExplains has a statement with a reason and one without in each of twelve languages.
func TestExplains(t *testing.T) {
	for _, s := range []string{
		"We moved billing to Stripe because PayPal kept failing", "The run ended due to a full disk",
		"因为磁盘满了，任务停止了", "ディスクが一杯になったので止まった", "디스크가 가득 찼기 때문에 멈췄다", "หยุดเพราะดิสก์เต็ม",
		"Der Lauf brach ab, weil die Platte voll war", "Arrêt à cause de la panne", "Se paró porque falló el disco",
		"Parou porque o disco falhou", "Si è fermato perché il disco era pieno", "Gestopt omdat de schijf vol was",
		"Остановился, потому что диск полон",
	} {
		if !Explains(s) {
			t.Errorf("%q gives a reason", s)
		}
	}
	for _, s := range []string{
		"", "We moved billing to Stripe", "任务停止了", "ディスクが止まった", "디스크가 멈췄다", "ดิสก์เต็ม", "Die Platte ist voll",
		"Le disque est plein", "El disco está lleno", "O disco está cheio", "Il disco è pieno", "De schijf is vol", "Диск полон",
	} {
		if Explains(s) {
			t.Errorf("%q gives no reason", s)
		}
	}
}
