/**
 * Tells what a proxy in front says about a request. Only proxies that were named are believed.
 * @module
 */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** A request as the client sent it, before any proxy. */
export interface Origin {
  /** The address of the client. */
  readonly address: string;
  /** Undefined: what the request itself says. */
  readonly host?: string | undefined;
  readonly isSecure?: boolean | undefined;
}

type Head = Pick<IncomingMessage, 'headers' | 'socket'>;

export class TrustedProxies {
  readonly #list = new BlockList();
  readonly #isEmpty: boolean;

  /** @param given addresses and networks, such as `10.0.0.5` or `10.0.0.0/8`; throws a RangeError for anything else */
  constructor(given: readonly string[] = []) {
    this.#isEmpty = given.length === 0;
    for (const one of given) {
      const [address = '', bits, ...more] = one.split('/');
      const family = familyOf(address);
      const most = family === 'ipv6' ? 128 : 32;
      const isNumber = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
      if (isIP(address) === 0 || !isNumber || more.length > 0) throw new RangeError(one);
      if (bits === undefined) this.#list.addAddress(address, family);
      else this.#list.addSubnet(address, Number(bits), family);
    }
  }

  /** Where a request comes from. */
  originOf({ headers, socket }: Head): Origin {
    const peer = plain(socket.remoteAddress ?? '');
    if (!this.#has(peer)) return { address: peer };
    const hops = wordsIn(headers['x-forwarded-for']).map(plain);
    // Each proxy appends the address that it was reached from: the last one that is no proxy is the client.
    const address = hops.findLast((hop) => !this.#has(hop)) ?? hops[0] ?? peer;
    const proto = wordsIn(headers['x-forwarded-proto']).at(-1);
    return {
      address: isIP(address) === 0 ? peer : address,
      host: wordsIn(headers['x-forwarded-host']).at(-1),
      isSecure: proto === undefined ? undefined : proto.toLowerCase() === 'https',
    };
  }

  #has(address: string): boolean {
    return !this.#isEmpty && isIP(address) !== 0 && this.#list.check(address, familyOf(address));
  }
}

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** An IPv4 address that is written as IPv6 is the same address. */
const plain = (address: string): string => /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;

const wordsIn = (header: string | string[] | undefined): string[] =>
  [header ?? []]
    .flat()
    .flatMap((value) => value.split(','))
    .map((word) => word.trim())
    .filter(Boolean);
