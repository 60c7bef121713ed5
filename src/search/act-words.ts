/**
 * Lists the words by which the acts of a request are told apart: verbs of doing, and what stands around them.
 * @module
 */

const wordSet = (words: string): ReadonlySet<string> => new Set(words.split(' '));

/** Verbs of doing that are hardly ever nouns. */
export const VERBS = wordSet(
  'activate add analyse analyze append apply approve ask assign attend authenticate buy calculate capture ' +
    'categorize choose clarify classify clean clear clone close collect combine commit communicate compare compile ' +
    'complete compose compress compute concatenate conduct configure connect consult convert crawl create crop ' +
    'deactivate decode decrypt define delete deliver deploy describe detect determine disable discard discover draw ' +
    'duplicate enable encode encrypt ensure enter enumerate erase establish evaluate examine execute explain explore ' +
    'extract fetch fill find gather generate geocode get give identify implement improve increase inform initialize ' +
    'initiate insert inspect install integrate investigate keep launch locate make modify navigate notify observe ' +
    'obtain open operate organise organize outline overlay parse perform persist populate predict prepare produce ' +
    'propose provide react read recognise recognize recommend reconcile recover redeem regenerate register reject ' +
    'relocate remove rename reorder replace rerun reschedule resize resolve respond restore retrieve revert rewrite ' +
    'scrape send shorten silence simulate solve speak specify standardize submit subscribe suggest summarise ' +
    'summarize synthesize teach transcribe transform translate trigger understand undo uninstall unlock unzip ' +
    'validate verify visualise visualize write',
);

/** Verbs that are nouns as often: after `and` they are taken for a noun unless an object begins behind them. */
export const NOUNS_TOO = wordSet(
  'alert archive arrange attach back backup balance benchmark book branch browse build burn call cancel change ' +
    'chart check click comment copy count credit cut deposit design dim display download draft drop dump edit email ' +
    'estimate exchange export file fix forecast format forward grade group guide hide hold host import index invite ' +
    'jump label leave let link list load lock log look mail map mark match measure merge message monitor move mute ' +
    'name note order paste pause pick pin ping plan play plot post preview print process publish pull push put query ' +
    'quote rank rate record refund release remind render rent repeat reply report request research reserve reset ' +
    'restart resume retry reverse review rotate run sample save scale scan schedule score search see select set share ' +
    'show skip sort split start stop store stream survey swap switch sync tag take tell test track train transfer ' +
    'trim turn type update upgrade upload use view visit wait warn watch whois wrap zip',
);

/** What an object begins with. */
export const OPENERS = wordSet(
  'a about all an another any as at both down each every everybody everyone everything for her him his how in into ' +
    'it its me my new on one our out some somebody someone that the their them these this those three to two up us ' +
    'what when where whether which who with your',
);

/** Words before an act that say nothing about it. */
export const FILLERS = wordSet(
  'after afterward afterwards again aloud also and based but can could directly done finally first firstly help i ' +
    "i'd i'll if immediately just kindly lastly later let's like me need next now once please possible second " +
    'secondly so that then third thirdly to want we will would you',
);

/** What a question begins with. */
export const QUESTIONS = wordSet('are did do does how is what when where which who whose why will');

/** Words after which a verb waits for its object: `and` then joins it to the next verb (`to test and deploy`). */
export const HELPERS = wordSet(
  'and can cannot could dont he help i may might must never not or she should that they to we who will would you',
);

/** Words that stand for an object named before. */
export const PRONOUNS = wordSet('both each it its one ones result results same that their them these this those');

/** Words between two acts. `and` and the other `LISTING` ones also stand between two nouns. */
export const JOINTS = wordSet('and then also plus finally afterwards afterward lastly next so but');
export const LISTING = wordSet('and plus but');

/** How a sentence begins that says how the act before it is to be done. */
export const MANNERS = /^(?:keep|ensure|skip|avoid|do|name|specify|make sure|let me|use(?! .* to ))\b/;

/** Verbs that many tools have and few requests mean literally: a tool without them is no worse. */
export const VAGUE = wordSet(
  'analyze call conduct describe determine discover display examine explain explore fetch find get give identify list locate look ' +
    'make observe obtain perform provide put query read retrieve save search see show take tell understand use view write',
);

/** Words after an object that say more about it. */
export const TAILS = wordSet('called containing entitled including labelled marked named regarding tagged titled');

/** What one opens to make it, the verbs for that, and what stands before a thing that is not there yet. */
export const OPENED = wordSet(
  'account bug case claim discussion dispute incident issue mr order pr report request ticket thread',
);
export const OPENING = wordSet('file lodge log open raise start submit');
export const FRESH = wordSet('a an another new');
