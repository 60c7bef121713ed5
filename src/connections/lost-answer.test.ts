import { describe, expect, it } from 'vitest';
import { isWanted, lostAnswer, lostRequest } from './lost-answer.ts';

describe('lostAnswer', () => {
  it.each([
    ['{"jsonrpc":"2.0","id":7,"result":{"content":[', undefined, 7],
    ['{"id":7,"error":{"message":"', undefined, 7],
    [' { "jsonrpc" : "2.0" , "id" : 7 , "result" : {', undefined, 7],
    ['{"result":{"content":[', '"}]},"jsonrpc":"2.0","id":8}', 8],
    ['{"jsonrpc":"2.0","result":{', 'x"}, "id": 8 } \r', 8],
  ])('%s … %s answers request %i', (head, tail, id) => {
    expect(lostAnswer(head, tail)).toBe(id);
  });

  it.each([
    ['{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{', undefined],
    ['{"method":"sampling/createMessage","params":{', '"},"jsonrpc":"2.0","id":1}'],
    ['{"jsonrpc":"2.0","id":"q1","method":"elicitation/create"', undefined],
    ['{"jsonrpc":"2.0","method":"notifications/message","params":{"id":1}', undefined],
  ])('%s is no answer at all', (head, tail) => {
    expect(lostAnswer(head, tail)).toBe('none');
  });

  it.each([
    ['{"result":{"content":[', undefined],
    ['{"result":{"a":[', '{"id":8}}'],
    ['{"result":{"a":"', '\\"id\\":8}"}'],
    ['{"extra":1,"id":7,"result":{', '"id":7}'],
    ['xxxxxxxx', 'xxxx'],
    ['', ''],
  ])('of %s … %s nobody can say', (head, tail) => {
    expect(lostAnswer(head, tail)).toBe('unknown');
  });
});

describe('isWanted', () => {
  it.each([
    ['{"method":"sampling/createMessage","params":{', true],
    ['{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{', true],
    ['{"method":"notifications/message","params":{', false],
    ['{"jsonrpc":"2.0","method":"notifications/progress","params":{', false],
  ])('of a large %s is %s, wherever its id stands', (head, wanted) => {
    expect(isWanted({ awaited: () => undefined }, head, undefined)).toBe(wanted);
  });
});

describe('lostRequest', () => {
  it.each([
    ['{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{', undefined, 7],
    ['{"id":"a b","method":"tools/call","params":{', undefined, 'a b'],
    ['{"method":"tools/call","params":{', '"}},"jsonrpc":"2.0","id":8}', 8],
    ['{"jsonrpc":"2.0","method":"tools/call","params":{', undefined, null],
    ['{"jsonrpc":"2.0","id":7,"result":{', '"id":7}', null],
    ['{"id":007,"method":"x"', undefined, 7],
    ['xxxx', 'xxxx', null],
  ])('%s … %s is request %s', (head, tail, id) => {
    expect(lostRequest(head, tail)).toBe(id);
  });
});
