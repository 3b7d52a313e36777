package main

import "fmt"

// prose25 are texts as people write them, and hard ones.
var prose25 = []string{
	"Yesterday Alice Ng moved the billing service from MySQL to PostgreSQL 16.2 because the o" +
		"ld cluster ran out of disk. Bob did not agree; he prefers tea and \"event sourcing\". See " +
		"https://wiki.example.com/db/migration, and mail ops@example.com or ask @carla.",
	"Next we should express our thanks. Go home, then rust will not matter. Use the spring to" +
		" relax. We wrote the importer in Go and the parser in Rust. Rust is a language we like. " +
		"Express is our framework for the API.",
	"Server alpha runs kafka 3.7 and node.js v20.11.1; config lives in /etc/kafka/server.prop" +
		"erties and src/main_loop.go. Call parse_line() on INC-4711, not S3. Released on 2024-05-" +
		"03, and/or 24/7 by May 5, 2025.",
	"In Berlin arbeitet Anna Schmidt bei Siemens an der neuen Datenbank. Der Server stürzte a" +
		"b, weil der Speicher voll war. Deshalb nutzt das Team jetzt Redis statt Memcached. Die F" +
		"irewall verhindert den Zugriff von Karlsruhe.",
	"Hier, Claire Dubois a déménagé de Lyon à Marseille parce que Société Générale lui a prop" +
		"osé un poste. Le cache empêche les pannes. Elle préfère « Notre-Dame de Paris » et le ca" +
		"fé.",
	"Ayer María García se mudó a Buenos Aires porque su empresa abrió una oficina en la calle" +
		" Corrientes. El cortafuegos impide el acceso desde Madrid, por eso usamos una VPN.",
	"因为缓存满了，所以王小明先生把计费系统迁移到了Redis 7.2。他推荐大家读《设计数据密集型应用》，文档在https:" +
		"//example.cn/docs，不要发给李老师。防止数据丢失的办法是备份。这不会导致故障。",
	"田中さんはトヨタ自動車でKubernetesとプロメテウスを使っている。サーバーのメモリ不足のため停止した。「吾輩は猫で" +
		"ある」が好き。",
	"Вчера Анна Иванова переехала в Санкт-Петербург, потому что компания Яндекс открыла там о" +
		"фис. Сервер упал, поэтому команда перешла на PostgreSQL.",
	"أخبرني أحمد أن الخادم توقف بسبب نفاد الذاكرة. يستخدم الفريق «كتاب الحكمة» و Redis.",
	"คุณสมชายใช้ PostgreSQL เพราะเร็ว \"ระบบบัญชี\" อยู่ที่ https://example.th/",
	"민수 씨는 서울에서 김영희 님과 Docker를 쓴다. 그래서 빌드가 빠르다.",
	"THE SERVER IS DOWN AND NOBODY KNOWS WHY. Alice's laptop broke. The IBM team met Dr. Müll" +
		"er, J. K. Rowling and Ludwig van Beethoven at the Bank of England. AT&T sued. iPhone 15 " +
		"is out. User prefers dark mode. Priya prefers tea.",
	"The retry queue prevents double charges. This allowed us to drop the lock. The lock does" +
		" not prevent deadlocks. It failed, so we rolled back. Due to a power cut, the site went " +
		"down.",
	"Set `MNEM_REPO` and run `git push -f`; the hash is 3f2a9c1de, tag #launch, C++ and C# wo" +
		"rk, see foo::bar and docs/.",
	"Deploying Kubernetes took two days. Fixed Postgres on Monday. The quick test of Project " +
		"Apollo 11 and Windows 11 ran in 2024 in Paris.",
	"He said \"I never agreed to any of this, and I will not sign it today or tomorrow\" and le" +
		"ft. The word \"rollback\" is new.",
	"Ping 10.0.0.1 or visit www.example.org. The file README.md, v1.2.3-rc.1 and version 2.5 " +
		"differ; e.g. the U.S. and i.e. nothing.",
	"Notion is a word. The notion of order is old. We use Slack and Linear with our API. In L" +
		"inear, open an issue; access to excel in teams is fine.",
	"Ich habe gestern mit Peter Maier über das Budget gesprochen. Das Projekt läuft nach Plan" +
		". „Nordstern“ heißt die neue Version, und Hamburg ist der St" +
		"andort.",
	"Le serveur est à Nantes. Grâce à Léa, l'équipe n'a pas perdu de données. La panne n'empê" +
		"che pas le paiement.",
	"El equipo de Lucía usa Kafka. No se cayó por eso. Gracias a Tomás, la copia evita pérdid" +
		"as.",
	"张伟老师说，由于网络中断，服务不可用。没有导致数据丢失。备份使得恢复很快。我们在使用GitHub Actions和Typ" +
		"eScript。",
	"レビューは佐藤さんが担当。ディスクが満杯だったため、ジョブが停止した。したがって、ログを削除した。「月次報告」を送る。",
	"Москва не Петербург. Мы используем Docker, так как Ольга Петрова его знает. Файл config." +
		"yaml лежит в /etc/app/.",
	"NASA and ESA met. GraphQL over HTTP/2 with iOS, eBay and McDonald's; snake_case, CamelCa" +
		"se, kebab-case, --flag and $HOME.",
	"#release of @mnem-bot went to a@b.co; (see https://en.wikipedia.org/wiki/Go_(game)). Iss" +
		"ue #4711 in mnem-project/mnem.",
	"Jean-Luc Picard and Marie Curie. Then Alice and Bob went to the University of Oxford. Te" +
		"am Blue won. The Beatles sang.",
	"",
	"   ",
	"a",
	"@ # / http:// 's A's ``",
	"x\x00y",
	"„Nordwind\" und “Südwind” «Ost\nwind» \"a\" `b\nc` \"\" `d`",
	"A.B.C. met D. E. Frost at 5 p.m. in T. Town.",
	"Zoë's café/menu.txt é/x.txt ü@b.de naïve_name",
	"《三体》和《三体》〈流浪地球〉『上海』 「 x 」",
	"v1.2 V2.0.1 1.2 1.2.3 12.05.2024 2024.05.03 1.2.3-beta.1+5 1234.1.1 v1234.1",
	"a_b __init__ A::B x.com .x.com sub.example.org f.g() g()() () foo.bar.baz",
	"S3 gpt-4o GPT-4 phase-2 PHASE-2 Q3 Q33 k8s H2O covid-19 3rd 10GB abcdef1 1234567 deadbee" +
		"f cafe-123-babe",
	"C:\\temp\\x ~/notes ./a ../b /x /-x a/b a/b/c a-b/c/d and/or x/ x/y.z x/y_z 1/2/3.4",
	"www.a www.a.b http://x ftp://a.b/c). (see http://a.b/c(d)) http://-x a://b ab://c",
	"GO TO THE BIG RED HOUSE NOW. IBM rules. NASA Will Go There",
	"Madonna said hi. Madonna sang. Then Madonna left. Rain fell. The Rain stopped.",
	"Ada and Bob ran. Kim y Lee. Uma prefers it. Everything is fine. Ada's pen. It's ok.",
	"Go 1.26 is out. Rust 2 won. Swift 5.9, Express. Java beans in Java. Spring is near; spri" +
		"ng framework. Flask, a library.",
	"Bank of England, University of the Arts London, Ursula von der Leyen, Leonardo da Vinci," +
		" Ministry of of War",
	"Der Chef von Siemens sprach mit Anna. Die Leiterin Ursula von der Leyen kam aus Brüssel." +
		" Heute Abend spielt Bayern München. Werner lacht. Wir nutzen Kafka.",
	"Das ist ein Test der Verbindung zu Hamburg und zu der Zeitung. Er fährt nach Rom, weil J" +
		"ulia wartet.",
	"東京でサッカーを見た。山田太郎様と鈴木 さんが来た。ﾃﾞｰﾀ ﾊﾝﾊﾞｰｶﾞｰ レオナルド・ダ・ヴィンチ ・アニメ・",
	"欧阳明教授说王五先生和李四找陈老师。김철수씨와 이 영희 씨, 홍길동님.",
	"billing service, Billing  Service and the BILLING-service; 计" +
		"费系统计费",
	"因为A，所以B。由于C导致D。不是因为E。E使得F能G。避免H。",
	"Because. Because x. Therefore. So, y. As a result, z happened because of w, due to v.",
	"It doesn't cause x. It never led to y. It is not caused by a, but caused by b.",
	"Weil es regnet, bleiben wir. Das verhindert nicht den Fehler. Das verhindert den Fehler.",
	"Не потому что дорого, а потому что поздно. Это привело к сбою.",
	"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx because y y y y y y y y y y y y y y y y y y y y" +
		" y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y" +
		" y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y" +
		" y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y" +
		" y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y" +
		" y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y" +
		" y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y" +
		" y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y" +
		" y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y" +
		" y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y" +
		" y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y" +
		" y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y" +
		" y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y" +
		" y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y" +
		" y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y" +
		" y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y" +
		" y y y y y y y y y y y y y y y y y y y y because z.",
	"because so therefore thus hence due to led to because so therefore thus hence due to led" +
		" to because so therefore thus hence due to led to because so therefore thus hence due to" +
		" led to because so therefore thus hence due to led to ",
	"のため のため。したがって、x。y ない 防ぐ",
	"Cela n'entraîne rien. Cela entraîne x. Grâce à y, z permet w.",
	"a, so b; so c so-so. Soso so.",
	"١٢ كتاب «س» وجد Ali Baba في 2024.",
	"Mr. Dr. X. Prof. Dr. Karl Koch und Herr Maier. I am I. Am I?",
	"In May 2023, on 5 June, since 2020, from March to April 2024" +
		", yesterday, 2024年5月3日, 三月五日 and in 2021. By May 5 we go. Ma" +
		"y I?",
	"I.B.M. U.N. AT&T R&D Q&A Jean-Luc-Marie X-Y-Z",
	"Set CGO_ENABLED=0, a==b, =x_y, X=1=2 and www.a.b/?c=d or http://a.b/?c=d in Q3. Frau Becker und Herrn Weber.",
	"e\u0301te\u0301 E\u0301mile Zola e\u0301crit \u200dJoiner Zero\u200bWidth",
	"Visitors are allowed on Friday. Deploys are still blocked on Sunday. They're now enabled. Once " +
		"more allowed, this allowed us to drop the lock. It is the rule that allowed it. The account " +
		"was blocked by the bank. Rauchen ist erlaubt. Le compte est bloqué. 周五参观被允许。缓存允许离线工作。",
	"The server alpha has 16 GB of memory and costs 40 EUR, said Dana. Der Tarif kostet 20 Euro.",
}

// known25 are names that whoever asks knows.
var known25 = []string{"billing service", "计费系统", "Rain", "  ", "计费"}

func extractCases(s *suite) {
	for i, text := range append(prose25, rep("Alice Bob ", 900), rep("人A ", 4100)) {
		entities := []any{}
		clause := "25.1"
		for _, m := range entities25(text, known25) {
			if m.kind == "name" {
				clause = "25.2"
			}
			entities = append(entities, obj{"kind": m.kind, "key": m.key, "start": m.at, "end": m.end})
		}
		in := obj{"text": text, "known": known25}
		s.add(clause, "entities", fmt.Sprintf("prose-%02d", i), "what a text names", in,
			obj{"entities": entities})
		signals := []any{}
		for _, g := range signals25(text) {
			signals = append(signals, obj{"relation": g.relation, "phrase": g.phrase, "start": g.at,
				"cause": g.cause, "effect": g.effect})
		}
		if len(signals) > 0 {
			s.add("25.3", "signals", fmt.Sprintf("prose-%02d", i), "what a text says of causes",
				obj{"text": text}, obj{"signals": signals})
		}
	}
}
