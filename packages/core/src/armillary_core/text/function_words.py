"""The commonest words of each language that say little but give it away; accents are folded before comparing."""

from __future__ import annotations

from typing import Final

from armillary_core.text.folding import Script

FUNCTION_WORDS: Final[dict[Script, dict[str, str]]] = {
    Script.LATIN: {
        "en": (
            "the of and to in is that it for was on are with as his they be at this have from or had by but "
            "what some we can out other were which do their if will how an each not you your when use used "
            "using there all should has been than its only into more"
        ),
        "de": (
            "der die und in den von zu das mit sich des auf fur ist im dem nicht ein eine als auch es an werden "
            "aus er hat dass sie nach wird bei einer um am sind noch wie einem uber einen so zum war haben nur "
            "oder aber vor zur bis mehr durch man sein wurde wenn kann ich wir diese dieser"
        ),
        "fr": (
            "de la le et les des en un du une que est pour qui dans par plus pas au sur ne se ce il sont ou "
            "avec son aux cette ses mais comme nous vous leur etre fait tout sans ont peut elle ces si dont je "
            "ete lors ainsi vos votre cela meme"
        ),
        "es": (
            "de la que el en y los se del las por un para con no una su al lo como mas pero sus le ya o fue "
            "este ha si porque esta son entre cuando muy sin sobre ser tiene tambien me hasta hay donde han "
            "quien desde todo nos durante puede cada"
        ),
        "pt": (
            "de que e o do da em um para com nao uma os no se na por mais as dos como mas ao ele das foi sua ou "
            "quando muito nos ja eu tambem so pelo pela ate isso ela entre depois sem mesmo aos seus quem nas "
            "voce sao esta pode ser tem"
        ),
        "it": (
            "di che la il e un per in una sono non con si da come le dei nel alla del piu anche ma delle della "
            "gli i questo lo ha al o se nella essere dal stato dalla sul ed ai degli puo suo loro quando tra "
            "ogni questa viene tutti"
        ),
        "nl": (
            "de het een van en in is dat op te zijn met voor niet die aan er om ook als dan maar bij of uit nog "
            "naar heeft worden deze door over wordt kan tot je hij meer ze wel zo geen werd hebben onder was "
            "wat dit"
        ),
        "sv": (
            "och i att det som en pa ar av for med till den har de inte om ett han men var jag sig fran vi sa "
            "kan nar man eller ska dar ut under efter vid hade blir alla denna vara detta inom mellan skulle "
            "ocksa"
        ),
        "da": (
            "og i at det er en til af pa der som for med den de har ikke et han om men var jeg sig fra vi kan "
            "nar man eller skal ud under efter ved havde bliver alle denne vaere blev dette ogsa hvor mellem "
            "kunne deres sadan mere hvad noget"
        ),
        "no": (
            "og i det er en til av pa som for med den de har ikke et han om men var jeg seg fra vi kan nar man "
            "eller skal ut under etter ved hadde blir alle denne vaere ble dette ogsa hvor mellom kunne deres "
            "mer noe bare hva mye skulle ikkje ein"
        ),
        "fi": (
            "ja on ei etta se oli en han hyvin joka mutta kuin tai ovat niin myos kun jos vain sen ole mita nyt "
            "sita ollut kaikki minun viela jo mukaan seka hanen ne olla taman voi kanssa jonka jossa ennen"
        ),
        "hu": (
            "a az es hogy nem is egy ez meg volt csak de ha mint el azt van mar ki vagy minden ami lesz kell "
            "ezt szerint olyan igen sem fel mert ahol majd aki utan amely sok lehet ennek nagyon kozott"
        ),
        "ro": (
            "de si in la a cu pe nu este care un o din sa pentru mai ca se al sunt prin fi dar au lui ale cele "
            "despre dupa fost acest poate sau aceasta cand daca unei unui intre catre foarte"
        ),
        "tr": (
            "ve bir bu da de icin ile olarak cok daha en gibi olan kadar sonra ne ki ama o var her mi degil "
            "olur tarafindan diye bunu gore veya ise ya uzerinde olduğu olduğunu butun yeni ancak"
        ),
        "ca": (
            "de la i el que a en les els un per del amb una es no al com mes dels ha son seva se pel o va seu "
            "aquest aquesta tambe pero ser entre fins sobre quan perque molt sense hi li uns tot on"
        ),
        "pl": (
            "i w na z do nie sie to jest ze o jak a od po przez co dla za ktore oraz byl jego tym tak ale jako "
            "moze juz ktory tylko sa lub ich czy byc tego jej przed ma gdy bardzo ktora gdzie"
        ),
        "cs": (
            "a je v se na ze to s z do i o ve pro za jako by jsou nebo ale ktery k po jeho od bylo byl jen tak "
            "ktere jsem podle pri jsme az ma mezi pouze aby tento take muze co nebyl jeste"
        ),
        "et": (
            "ja on ei et see oli ta kui aga ka ning mis oma voi nii siis kes selle olid tema ole veel ma kus "
            "uks ainult seda mida peale enne parast koik kuid nagu"
        ),
        "lt": (
            "ir kad i is buvo su yra ne tai kaip bet jo uz o ar po per dar nuo savo jis bus tik apie arba iki "
            "del labai kuri gali jau kai visi"
        ),
        "eu": (
            "eta da du ez bat izan dira ere zen egin den dute behar baina zuen edo dela honek hau egiten beste "
            "bere baino dago dituzte horiek arte"
        ),
        "ga": (
            "agus an na ar ag is a i le go do ni air ata bhi sin seo mar ach don leis bhfuil ina siad nach faoi "
            "chuig idir gach aon ann"
        ),
        "id": (
            "yang dan di dengan untuk dari ini dalam tidak itu pada akan adalah ke juga dapat oleh sebagai ada "
            "mereka atau bisa telah saya lebih karena anda seperti sudah tersebut secara harus menjadi"
        ),
        "eo": (
            "la de kaj en al estas ne por ke kun el li per mi tio sed ili oni ankau kiu pri vi kiel plej nur "
            "estis gi kiuj tiu post dum"
        ),
        "vi": (
            "va la cua co khong cho nguoi duoc trong mot voi cac nhung de khi tu nay do den theo nhu da ve cung "
            "phai nhieu ra nam sau"
        ),
    },
    Script.CYRILLIC: {
        "ru": (
            "и в не на что с по как это а но из за от для к до же вы так или бы если у о он она они мы только "
            "есть был было были при этого ещё уже чтобы может который которые можно также все их его её том под"
        ),
        "uk": (
            "і в не на що з по як це а але із за від для до ж ви так або б якщо у о він вона вони ми тільки є "
            "був було були при цього ще вже щоб може який які також всі їх його її та про буде під"
        ),
        "bg": (
            "и в не на че с по като това а но от за до ще се или ако са е той тя те ние само има беше при този "
            "вече може който които също всички си да през след към"
        ),
        "sr": (
            "и у не на да се је за са од као то су али или из по који које што био би га сам ће само више до "
            "код он она они ми још након пре"
        ),
        "be": (
            "і ў не на што з па як гэта а але за ад для да ж вы так або калі у аб ён яна яны мы толькі ёсць быў "
            "было былі пры яшчэ ўжо каб можа які якія таксама ўсе іх яго яе"
        ),
    },
    Script.ARABIC: {
        "ar": "في من على إلى أن ما هذا هذه التي الذي لا عن مع كان أو كل بعد قد ذلك بين هو هي عند لم كما ثم غير",
        "fa": "و در به از که این را با است برای آن یک خود تا بر هم نیز شده می شود کرد هر اما یا شد دارد باید",
    },
    Script.DEVANAGARI: {
        "hi": "के में की है और से का को पर यह कि एक नहीं हैं ने भी था तो कर ही या लिए इस जो हो",
        "ne": "र को छ मा यो पनि हो ले का लाई भने गर्न छन् तर एक यस गरेको भएको थियो गर्ने",
    },
    Script.HEBREW: {
        "he": "של על את לא זה הוא עם או כל גם אם כי היא אני מה יש אבל רק אל",
        "yi": "און די איז דער אין צו פון נישט האט אויף מיט דאס איך ער זיי",
    },
}
