package extract

import (
	"fmt"
	"strings"
	"testing"
)

func show(list []Entity) string {
	var parts []string
	for _, e := range list {
		parts = append(parts, fmt.Sprintf("%s=%s", e.Kind, e.Name))
	}
	return strings.Join(parts, " | ")
}

func TestZZ(t *testing.T) {
	for _, s := range prose {
		fmt.Println("--", s)
		fmt.Println("   ", show(Entities(s, []string{"billing service", "计费系统"})))
		for _, g := range Signals(s) {
			fmt.Printf("    %s %q: %q -> %q\n", g.Relation, g.Phrase, g.Cause, g.Effect)
		}
	}
}

var prose = []string{
	`Yesterday Alice Ng moved the billing service from MySQL to PostgreSQL 16.2 because the old cluster ran out of disk. Bob did not agree; he prefers tea and "event sourcing". See https://wiki.example.com/db/migration, and mail ops@example.com or ask @carla.`,
	`Next we should express our thanks. Go home, then rust will not matter. Use the spring to relax. We wrote the importer in Go and the parser in Rust. Rust is a language we like. Express is our framework for the API.`,
	`Server alpha runs kafka 3.7 and node.js v20.11.1; config lives in /etc/kafka/server.properties and src/main_loop.go. Call parse_line() on INC-4711, not S3. Released on 2024-05-03, and/or 24/7 by May 5, 2025.`,
	`In Berlin arbeitet Anna Schmidt bei Siemens an der neuen Datenbank. Der Server stürzte ab, weil der Speicher voll war. Deshalb nutzt das Team jetzt Redis statt Memcached. Die Firewall verhindert den Zugriff von Karlsruhe.`,
	`Hier, Claire Dubois a déménagé de Lyon à Marseille parce que Société Générale lui a proposé un poste. Le cache empêche les pannes. Elle préfère « Notre-Dame de Paris » et le café.`,
	`Ayer María García se mudó a Buenos Aires porque su empresa abrió una oficina en la calle Corrientes. El cortafuegos impide el acceso desde Madrid, por eso usamos una VPN.`,
	`因为缓存满了，所以王小明先生把计费系统迁移到了Redis 7.2。他推荐大家读《设计数据密集型应用》，文档在https://example.cn/docs，不要发给李老师。防止数据丢失的办法是备份。这不会导致故障。`,
	`田中さんはトヨタ自動車でKubernetesとプロメテウスを使っている。サーバーのメモリ不足のため停止した。「吾輩は猫である」が好き。`,
	`Вчера Анна Иванова переехала в Санкт-Петербург, потому что компания Яндекс открыла там офис. Сервер упал, поэтому команда перешла на PostgreSQL.`,
	`أخبرني أحمد أن الخادم توقف بسبب نفاد الذاكرة. يستخدم الفريق «كتاب الحكمة» و Redis.`,
	`คุณสมชายใช้ PostgreSQL เพราะเร็ว "ระบบบัญชี" อยู่ที่ https://example.th/`,
	`민수 씨는 서울에서 김영희 님과 Docker를 쓴다. 그래서 빌드가 빠르다.`,
	`THE SERVER IS DOWN AND NOBODY KNOWS WHY. Alice's laptop broke. The IBM team met Dr. Müller, J. K. Rowling and Ludwig van Beethoven at the Bank of England. AT&T sued. iPhone 15 is out. User prefers dark mode. Priya prefers tea.`,
	`The retry queue prevents double charges. This allowed us to drop the lock. The lock does not prevent deadlocks. It failed, so we rolled back. Due to a power cut, the site went down.`,
	"Set `MNEM_REPO` and run `git push -f`; the hash is 3f2a9c1de, tag #launch, C++ and C# work, see foo::bar and docs/.",
}
