import { createSocket } from 'node:dgram'
import type { AddressInfo } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Addresses of either family, a failure, or nothing ever. */
export type DnsAnswer = readonly string[] | 'not-found' | 'server-failure' | 'hang'

export interface DnsServer {
  /** Address and port, for `Resolver.setServers`. */
  readonly address: string
  /** Every question, such as `name.example A`. */
  readonly asked: string[]
  stop(): Promise<void>
}

const rcodes = { 'server-failure': 2, 'not-found': 3 } as const
const typeNames: Readonly<Record<number, 'A' | 'AAAA'>> = { 1: 'A', 28: 'AAAA' }

/** A DNS server on the loopback address (RFC 1035, UDP), of which nothing may be remembered: times to live are an hour. */
export async function startDnsServer(
  answerOf: (name: string, type: 'A' | 'AAAA') => DnsAnswer | Promise<DnsAnswer>,
): Promise<DnsServer> {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', async (query, from) => {
    const { name, code, end } = readQuestion(query)
    const type = typeNames[code]
    if (!type) throw new Error(`nobody should ask for type ${code}`)
    asked.push(`${name} ${type}`)
    const answer = await answerOf(name, type)
    if (answer === 'hang') return
    const addresses = typeof answer === 'string' ? [] : answer.map((text) => ipaddr.parse(text).toByteArray())
    const records = addresses.filter(({ length }) => length === (type === 'A' ? 4 : 16))
    const head = Buffer.alloc(12)
    query.copy(head, 0, 0, 2)
    // An answer, with recursion wanted and had.
    head.writeUInt16BE(0x8180 | (typeof answer === 'string' ? rcodes[answer] : 0), 2)
    head.writeUInt16BE(1, 4)
    head.writeUInt16BE(records.length, 6)
    const message = Buffer.concat([
      head,
      query.subarray(12, end),
      ...records.map((bytes) => addressRecord(code, bytes)),
    ])
    socket.send(message, from.port, from.address)
  })
  await new Promise<void>((listening) => socket.bind(0, '127.0.0.1', listening))
  const { port } = socket.address() as AddressInfo
  return {
    address: `127.0.0.1:${port}`,
    asked,
    stop: () => new Promise((stopped) => socket.close(stopped)),
  }
}

function readQuestion(query: Buffer): { name: string; code: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), code: query.readUInt16BE(at + 1), end: at + 5 }
}

/** Of the name that was asked for, which stands at the twelfth byte. */
function addressRecord(code: number, address: readonly number[]): Buffer {
  const record = Buffer.alloc(12)
  record.writeUInt16BE(0xc00c, 0)
  record.writeUInt16BE(code, 2)
  record.writeUInt16BE(1, 4)
  record.writeUInt32BE(3_600, 6)
  record.writeUInt16BE(address.length, 10)
  return Buffer.concat([record, Buffer.from(address)])
}
