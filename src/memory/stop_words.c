/* The lists hold articles, pronouns, prepositions, conjunctions, auxiliaries and question words,
 * folded as words.c folds (without accents and apostrophes). */
#include "memory/stop_words.h"

#include <pthread.h>
#include <string.h>

static const char *const LISTS[LANGUAGE_COUNT] = {
    [LANGUAGE_ENGLISH] =
        "a about above after again against all also am an and any are arent as at be because been "
        "before being below between both but by can cant could couldnt d did didnt do does doesnt "
        "doing dont down during each few for from further had hadnt has hasnt have havent having "
        "he "
        "her here hers herself hes him himself his how i id if ill im in into is isnt it its "
        "itself "
        "ive just ll m may me might more most must my myself no nor not now of off on once only or "
        "other ought our ours ourselves out over own re s same shall she shes should so some such "
        "t "
        "than that thats the their theirs them themselves then there these they theyre this those "
        "through to too under until up us ve very was wasnt we were werent what whats when where "
        "which while who whom why will with wont would wouldnt you your youre yours yourself",
    [LANGUAGE_GERMAN] =
        "aber als am an auch auf aus bei bin bis bist da damit dann das dass dein deine dem den "
        "denn der des dessen die dies diese dieser dieses doch dort du durch ein eine einem einen "
        "einer eines er es euer fur habe haben hat hatte hatten hier ich ihm ihn ihr ihre im in "
        "ist "
        "ja jede jeder jedes kann kein keine konnen man mein meine mich mir mit nach nicht noch "
        "nun "
        "nur ob oder ohne sehr sein seine sich sie sind so uber um und uns unser unter vom von vor "
        "wann war waren warum was weil welche wenn wer werden wie wieder wir wird wo wurde zu zum "
        "zur",
    [LANGUAGE_FRENCH] =
        "a ai au aux avec c ce ces cet cette comme d dans de des donc du elle elles en est et ete "
        "etre eux fait il ils j je l la le les leur leurs lui m ma mais me mes moi mon n ne nos "
        "notre nous on ont ou par pas plus pour pourquoi qu quand que quel quelle qui s sa sans se "
        "ses si son sont sur t ta te tes toi ton tres tu un une vos votre vous y",
    [LANGUAGE_SPANISH] =
        "a al como con cual cuando de del desde donde el ella ellas ellos en entre era es esa ese "
        "eso esta estaba este esto estos fue ha han hasta hay la las le les lo los mas me mi mis "
        "muy nos nosotros o para pero por porque que quien se ser si sin sobre son su sus tambien "
        "te tiene todo tu tus un una unas unos usted y ya yo",
    [LANGUAGE_ITALIAN] =
        "a agli ai al alla alle anche che chi ci come con cosa da dal dalla degli dei del della "
        "delle di dove e ed era gli ha hanno ho i il in io la le lei li lo loro lui ma mi mia mio "
        "ne nei nel nella noi non o ogni per perche piu quale quando quello questa questo se si "
        "sono sua suo sul sulla tra tu tutti un una uno voi",
    [LANGUAGE_PORTUGUESE] =
        "a ao aos as com como da das de dela dele do dos e ela elas ele eles em entre era essa "
        "esse "
        "esta este eu foi ha isso isto ja lhe mais mas me meu minha muito na nao nas no nos nossa "
        "o onde os ou para pela pelo por porque quando que quem se sem ser seu sua sao tambem te "
        "tem um uma voce",
    [LANGUAGE_DUTCH] =
        "aan al als bij dan dat de der deze die dit doch door een en er haar had heb hebben heeft "
        "het hem hier hij hoe hun ik in is ja je kan maar me meer men met mij mijn naar niet nog "
        "nu "
        "of om omdat onder ons ook op over te tegen toch toen tot u uit van veel voor waar waarom "
        "wanneer was wat we wel wie wij wordt zal ze zich zij zijn zo zou",
    [LANGUAGE_SWEDISH] = "alla att av blev bli da dar de dem den denna det detta dig din du efter "
                         "ej eller en er ett "
                         "for fran ha hade han hans har hon honom hur i icke inte ja jag kan man "
                         "med men mig min mot "
                         "mycket nar ni nu och om oss pa sa sig sin ska som till under upp ut vad "
                         "var varfor vara vi "
                         "vid vilken",
    [LANGUAGE_RUSSIAN] =
        "а без бы был была были было быть в вам вас весь во вот все всего вы где да для до его ее "
        "если есть еще же за и из или им их к как ко когда которыи кто ли мне мы на над нам нас не "
        "него нее нет ни них но о об он она они от по под почему при с со так там то того тоже "
        "только ты у уже что чтобы эта эти это этот я",
    [LANGUAGE_ARABIC] =
        "في من علي الي عن مع هذا هذه ذلك التي الذي ان انه انها كان كانت قد لا ما ماذا "
        "هل هو هي هم نحن انا انت او ثم لم لن كل بعد قبل بين متي اين كيف لماذا و",
    [LANGUAGE_GREEK] =
        "ο η το οι τα του τησ των τον την και κι να θα για με σε απο στο στη στην στον "
        "που πωσ ποτε γιατι τι δεν μην ειναι ηταν εχει αυτο αυτη αυτοσ εγω εσυ μου σου "
        "ωσ αν οτι η",
};

#define SLOTS 4096u /* a power of two, some four times as many as there are words */

struct slot {
    const char *word;
    size_t length;
    uint32_t languages;
};

static struct slot table[SLOTS];
static pthread_once_t built = PTHREAD_ONCE_INIT;

static struct slot *find(const char *word, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)word[i]) * 16777619u;
    }
    struct slot *slot = &table[hash & (SLOTS - 1)];
    while (slot->word && (slot->length != length || memcmp(slot->word, word, length) != 0)) {
        slot = slot + 1 < table + SLOTS ? slot + 1 : table;
    }
    return slot;
}

static void build(void)
{
    for (size_t language = 0; language < LANGUAGE_COUNT; language++) {
        const char *at = LISTS[language];
        while (*at) {
            size_t length = strcspn(at, " ");
            struct slot *slot = find(at, length);
            slot->word = at;
            slot->length = length;
            slot->languages |= 1u << language;
            at += length + (at[length] == ' ');
        }
    }
}

uint32_t stop_word_languages(const char *word, size_t length)
{
    pthread_once(&built, build);
    return find(word, length)->languages;
}
