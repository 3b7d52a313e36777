package memory

import (
	"strings"

	"github.com/mnem-project/mnem/internal/text"
)

// Words that a question asks with, and that an answer has no need to repeat: they weigh nothing. The
// analyser of English drops its function words; these are the others. The lists are of this project's
// own writing.

// askingEnglish are words of English questions that stand for what the answer says.
var askingEnglish = foldedSet("kind kinds type types sort sorts many much often long exactly name " +
	"named called thing things happen happened happens please")

// functionWords are the most frequent function and question words of a language, folded. A question
// that has more of one list than English stop words is read as of that language.
var functionWords = []checkLanguage{
	{name: "de", nouns: true, words: foldedSet("der die das den dem des ein eine einen einem einer " +
		"eines und oder ist sind war waren hat haben hatte wird werden wurde wurden kann ich du er " +
		"sie es wir ihr mein dein sein unser von vom mit fur für auf aus bei beim nach zu zum zur " +
		"im in am an um als wie wer was wann wo warum wieso weshalb welche welcher welches welchen " +
		"welchem wem wen wessen wohin woher viel viele nicht kein keine keinen auch noch schon " +
		"denn dass daß ob so nur heisst heißt heißen genau gibt macht gemacht mal")},
	{name: "fr", words: foldedSet("le la les l un une des de du d et ou est sont était etait a ont " +
		"avait sera je tu il elle on nous vous ils elles ce c cette ces mon ma mes ton ta son sa ses " +
		"notre votre leur à au aux en dans sur par pour avec sans que qu qui quoi quel quelle quels " +
		"quelles quand où ou comment pourquoi combien lequel laquelle ne pas n y se s fait faire " +
		"plus aussi y-a-t-il t")},
	{name: "es", words: foldedSet("el la los las un una unos unas de del y o u es son era fue fueron " +
		"ha han habia había sera será yo tu tú ella nosotros ellos ellas su sus mi mis a al en con " +
		"por para sin sobre que qué quien quién quienes quiénes cual cuál cuales cuáles cuando " +
		"cuándo donde dónde como cómo cuanto cuánto cuanta cuánta cuantos cuántos cuantas cuántas " +
		"porque no se lo le les hace hizo hay esta está este estas estos muy más mas")},
	{name: "it", words: foldedSet("il lo la i gli le un uno una di del dello della dei degli delle e " +
		"o è sono era ha hanno aveva da in con su per tra fra al allo alla ai che chi cosa quale " +
		"quali quando dove come perché perche quanto quanta quanti quante non si ci nel nella sul")},
	{name: "pt", words: foldedSet("o a os as um uma uns umas de do da dos das e ou é são era foi foram " +
		"tem em no na nos nas com por para sem sobre ao que quem qual quais quando onde como " +
		"porque quanto quanta quantos quantas não nao se seu sua seus suas mais")},
}

type checkLanguage struct {
	name  string
	nouns bool // whether every noun begins with a capital, so that capitals tell no names
	words map[string]bool
}

// foldedSet returns the words of a list, folded as those of texts are.
func foldedSet(list string) map[string]bool {
	out := make(map[string]bool)
	for w := range strings.FieldsSeq(list) {
		out[foldedWord(w)] = true
	}
	return out
}

func foldedWord(word string) string {
	var b strings.Builder
	text.EachFolded(word, func(_, _ int, _ text.Kind, fold string) bool {
		b.WriteString(fold)
		return true
	})
	return b.String()
}

// languageOf returns the language whose function words a question has more of than English stop
// words: two at least, or one that it begins with; nil for none.
func languageOf(words []string) *checkLanguage {
	english := 0
	for _, w := range words {
		if text.IsStopWord(w) {
			english++
		}
	}
	var best *checkLanguage
	most := english
	for i := range functionWords {
		n := 0
		for _, w := range words {
			if functionWords[i].words[w] {
				n++
			}
		}
		if n > most && (n > 1 || functionWords[i].words[words[0]]) {
			best, most = &functionWords[i], n
		}
	}
	return best
}

// askingRuns are what questions ask with where words are not set apart, longer ones first. Each is
// read as a gap, so that it makes no bigram with what stands beside it.
var askingRuns = strings.NewReplacer(runGaps("为什么 為什麼 怎么样 怎麼樣 什么时候 什麼時候 哪一个 哪一個 " +
	"有没有 是不是 什么 什麼 怎么 怎麼 如何 哪里 哪裡 哪儿 哪些 哪个 哪個 多少 几个 幾個 谁 誰 何时 何時 吗 嗎 呢 " +
	"の は が を に で と も へ か です ます でした ました ですか ますか どこ いつ だれ なに なぜ どの どう どうして " +
	"何 いくつ いくら 的 了 是 在 อะไร ใคร ที่ไหน เมื่อไร เมื่อไหร่ ทำไม อย่างไร เท่าไร ไหม")...)

func runGaps(list string) []string {
	var out []string
	for run := range strings.FieldsSeq(list) {
		out = append(out, run, " ")
	}
	return out
}

// countPhrases are in questions that want a number; countRuns are those of scripts without spaces.
var (
	countPhrases = []string{
		"how many", "how much", "how old", "wie viel", "wie viele", "wieviel", "wieviele", "wie alt",
		"combien", "cuanto", "cuanta", "cuantos", "cuantas", "quanti", "quante", "quanto", "quantos",
		"quantas",
	}
	countRuns = []string{"多少", "几个", "幾個", "几次", "いくつ", "何人", "何個", "何回", "เท่าไร", "กี่"}
)

// numberWords are numbers as words, and what stands for one.
var numberWords = foldedSet("zero one two three four five six seven eight nine ten eleven twelve " +
	"thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty " +
	"seventy eighty ninety hundred thousand million billion dozen once twice thrice single couple " +
	"half both few several pair none " +
	"null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig hundert tausend " +
	"einmal zweimal dreimal dutzend deux trois quatre cinq sept huit neuf dix onze douze vingt " +
	"cent mille uno dos tres cuatro cinco seis siete ocho nueve diez once doce veinte cien mil due " +
	"tre quattro cinque sei sette otto nove dieci dois três quatro sete oito dez")

const numberRunes = "一二三四五六七八九十百千万萬億两兩半"

// negations turn a sentence around.
var negations = foldedSet("no not never none nor neither nobody nothing nowhere without cannot except " +
	"unless nicht kein keine keinen keinem keiner nie niemals niemand ohne ne pas jamais aucun aucune " +
	"sans nunca jamás jamas ningún ningun ninguna nadie sin non mai nessun nessuno senza não nao nenhum " +
	"nenhuma sem")

const negationRunes = "不没沒無无未非"

// negates reports whether a folded word, or a run of a script without spaces, negates.
func negates(word string) bool {
	return negations[word] || strings.HasSuffix(word, "n't") ||
		strings.ContainsAny(word, negationRunes)
}

// saysNumber reports whether a folded word or run says a number in letters.
func saysNumber(word string) bool {
	return numberWords[word] || strings.ContainsAny(word, numberRunes)
}

// isQuestion reports whether a text is a question rather than a statement.
func isQuestion(s string) bool {
	s = strings.TrimRight(s, " \t\r\n\"'”’»」』)）]")
	return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") || strings.HasSuffix(s, "؟")
}

// questionStarts begin questions that have no question mark.
var questionStarts = foldedSet("who whom whose what which when where why how is are was were do does " +
	"did has have had can could will would should may might wer wem wen wessen was wann wo warum wieso " +
	"welche welcher welches wie qui que quoi quel quelle quels quelles quand où comment pourquoi combien " +
	"quién quien qué cuál cual cuándo cuando dónde donde cómo como cuánto cuántos chi cosa quale quando " +
	"dove come perché quanto quem qual quais onde quanto")
