/**
 * Lists words that say nothing about what a tool does, in requests and in descriptions.
 * @module
 */

const WORDS =
  'a an the and or but nor of to in on at by for from with without into onto over under about as is are was were be been being am ' +
  'do does did doing done have has had having can could should would will shall may might must i me my mine we us our ours you your yours ' +
  'he him his she her it its they them their this that these those there here what which who whom whose when where why how ' +
  'if then else than so such not no only own same too very just also please tool tools using use used uses via per each any all some ' +
  'need needs want wants like let lets help out up down off again more most other both between during before after';

const STOP_WORDS: ReadonlySet<string> = new Set(WORDS.split(' '));

/** Whether a lower-case word carries no meaning of its own. */
export const isStopWord = (word: string): boolean => STOP_WORDS.has(word);
