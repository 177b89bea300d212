"""Memories are found in every script: a table of texts and of the words that must find them, through the tools."""

import pytest
from memory_world import Space, postgres, world  # noqa: F401 (fixtures)

# The key, the text, the keywords that find it, and keywords that do not.
TABLE = [
    ("chinese", "我们昨天在北京讨论了数据库的迁移计划。", ["北京", "数据库", "数据", "迁移计划", "讨论"], ["上海", "京北", "库数"]),
    ("traditional", "資料庫連線設定檔在伺服器上", ["資料庫", "連線", "伺服器", "設定"], ["伺器"]),
    ("chinese-mixed", "使用Redis缓存提高性能", ["Redis", "缓存", "性能", "redis"], ["存缓"]),
    ("japanese", "明日の会議は東京タワーの近くで開きます。", ["会議", "東京", "タワー", "東京タワー", "近く"], ["大阪", "京都"]),
    ("japanese-width", "ﾃﾞｰﾀﾍﾞｰｽの設定とＡＰＩキー", ["データベース", "API", "設定"], ["ベータ"]),
    ("korean", "데이터베이스 마이그레이션은 다음 주에 시작합니다.", ["데이터베이스", "마이그레이션", "다음", "시작"], ["서버"]),
    ("thai", "ประชุมเรื่องฐานข้อมูลที่กรุงเทพวันจันทร์", ["ประชุม", "ฐานข้อมูล", "กรุงเทพ"], ["เชียงใหม่"]),
    ("arabic", "اجتمع الفريق لمناقشة قاعدة البيانات الجديدة", ["الفريق", "قاعدة", "البيانات", "قَاعِدَة", "فريق"], ["سيارة"]),
    ("hebrew", "הצוות דן במסד הנתונים החדש", ["הצוות", "הנתונים"], ["מכונית"]),
    ("russian", "Мы обсудили перенос базы данных на новые серверы", ["перенос", "данных", "сервер", "БАЗЫ", "базы"], ["машина"]),
    ("greek", "Η ομάδα συζήτησε τη βάση δεδομένων", ["ομάδα", "ΟΜΑΔΑ", "βαση"], ["αυτοκίνητο"]),
    (
        "german",
        "Die Krankenversicherungskarte liegt beim Straßenverkehrsamt in Köln.",
        ["Krankenversicherungskarte", "krankenversicherung*", "Strassenverkehrsamt", "Köln", "koln", "KÖLN"],
        ["Fahrzeug"],
    ),
    ("german-plural", "Alle Häuser wurden verkauft, die Verträge sind unterschrieben.", ["Häuser", "hauser", "verkauft", "Vertrage"], []),
    (
        "french",
        "L'été dernier, l'élève a présenté ses idées à l'école française.",
        ["été", "ete", "élève", "eleve", "idées", "idee", "école", "ecole", "française", "francaise"],
        ["hiver"],
    ),
    ("turkish", "Toplantı Ankara'da, İstanbul'dan gelen ekiple yapıldı.", ["Ankara", "ankara", "Ankara'ya", "İstanbul", "istanbul"], ["İzmir"]),
    ("spanish", "Mañana la reunión será en Málaga con los niños", ["mañana", "reunión", "reunion", "Malaga", "niños"], []),
    ("english", "The cats were running through databases", ["cat", "run", "database", "running"], ["dog"]),
    (
        "camel",
        "The function getUserName calls XMLHttpRequest and parseJSON2Text.",
        ["getUserName", "getusername", "user", "XMLHttpRequest", "parseJSON2Text", "get_user_name"],
        ["setUserName"],
    ),
    ("snake", "Set max_retry_count in the config", ["max_retry_count", "retry", "maxRetryCount"], ["min_retry_count"]),
    (
        "path",
        "Edit /etc/nginx/sites-enabled/default.conf and src/index/index.c, see https://example.org/docs/setup?id=42",
        ["/etc/nginx", "nginx", "default.conf", "sites-enabled", "src/index/index.c", "index.c", "example.org", '"src/index"'],
        ["/etc/apache"],
    ),
    ("numbers", "Invoice INV-2026-0042 over 1234.50 EUR, version v2.13.0", ["INV-2026-0042", "0042", "1234.50", "v2.13.0"], ["0043"]),
    ("emoji", "Shipping party 🎉 at C++ and C# and .NET", ["party", "shipping"], []),
]
CASES = [(key, word, True) for key, _, finds, _ in TABLE for word in finds]
CASES += [(key, word, False) for key, _, _, misses in TABLE for word in misses]


@pytest.fixture(scope="module")
def table(world):
    """All of them in one namespace, so that each must also be told from the others."""
    space = Space(world, "scripts")
    space.load({"key": key, "text": text, "summary": key} for key, text, _, _ in TABLE)
    return space


@pytest.mark.parametrize("key, word, finds", CASES)
def test_fulltext(table, key, word, finds):
    keywords = word if word.startswith('"') else [word]
    hits = table.do("fulltext_search", keywords=keywords, operator="AND", limit=100)["results"]
    by_key = {hit["key"]: hit for hit in hits}
    assert (key in by_key) is finds
    if finds:
        assert "<mark>" in by_key[key]["excerpt"]


@pytest.mark.parametrize("key, word", [(key, word) for key, word, finds in CASES if finds and word[-1] != "*"])
def test_search(table, key, word):
    assert key in table.keys("search", query=word, limit=100)


def test_a_compound_is_found_by_a_question_about_its_part(table):
    assert "german" in table.keys("search", query="Wo ist die Karte der Krankenversicherung?")


def test_the_mark_is_around_the_word(table):
    (hit,) = table.do("fulltext_search", keywords="数据库")["results"]
    assert hit["key"] == "chinese" and "<mark>数据库</mark>" in hit["excerpt"]
    (hit,) = table.do("fulltext_search", keywords="ecole")["results"]
    assert "<mark>école</mark>" in hit["excerpt"]
