import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { freePort } from '../support/free-port.ts'

/** How the endpoint treats what it gets. */
type Mood = 'well' | 'silent' | { error: string }

/** An endpoint that speaks Valkey's protocol well enough to be broken in every way. It allows every request. */
export class FakeValkey {
  mood: Mood
  /** Processes that it says are there. */
  processes = 1
  /** Scripts that were asked for, whole or by digest. */
  calls: ('whole' | 'digest')[] = []
  /** By digest, as they came. */
  readonly scripts = new Map<string, string>()
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  static async start(mood: Mood = 'well'): Promise<FakeValkey> {
    const fake = new FakeValkey(mood)
    await fake.listen(await freePort())
    return fake
  }

  private constructor(mood: Mood) {
    this.mood = mood
    this.#server = createServer((socket) => this.#serve(socket))
  }

  async listen(port: number): Promise<void> {
    this.#server.listen(port, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Refuses connections from now on, and ends those that are there. */
  async close(): Promise<void> {
    const closed = this.#server.listening ? once(this.#server, 'close') : undefined
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket))
    let text = ''
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk
      for (let command = readCommand(text); command; command = readCommand(text)) {
        text = text.slice(command.length)
        this.#answer(socket, command.words)
      }
    })
  }

  #answer(socket: Socket, [name = '', given = '', keys = '0']: string[]): void {
    const isScript = /^eval/i.test(name)
    const isDigest = /^evalsha$/i.test(name)
    if (isScript) this.calls.push(isDigest ? 'digest' : 'whole')
    if (this.mood === 'silent') return
    if (typeof this.mood === 'object') return void socket.write(`-${this.mood.error}\r\n`)
    if (!isScript) return void socket.write(bulk('loading:0\r\n'))
    if (!isDigest) this.scripts.set(createHash('sha1').update(given, 'latin1').digest('hex'), given)
    const script = isDigest ? this.scripts.get(given) : given
    if (script === undefined) return void socket.write('-NOSCRIPT No matching script.\r\n')
    if (script.includes("'ZADD'")) return void socket.write(`:${this.processes}\r\n`)
    const numbers = [1, 0, Date.now(), ...Array.from({ length: Number(keys) }, () => [9, 60]).flat()]
    socket.write(`*${numbers.length}\r\n${numbers.map((each) => `:${each}\r\n`).join('')}`)
  }
}

const bulk = (text: string) => `$${text.length}\r\n${text}\r\n`

/** The first command of the text, which is an array of bulk strings, or undefined where it is not complete. */
function readCommand(text: string): { words: string[]; length: number } | undefined {
  const head = /^\*(\d+)\r\n/.exec(text)
  if (!head) return undefined
  const words: string[] = []
  let at = head[0].length
  while (words.length < Number(head[1])) {
    const size = /^\$(\d+)\r\n/.exec(text.slice(at, at + 20))
    if (!size) return undefined
    const start = at + size[0].length
    at = start + Number(size[1]) + 2
    if (at > text.length) return undefined
    words.push(text.slice(start, at - 2))
  }
  return { words, length: at }
}
