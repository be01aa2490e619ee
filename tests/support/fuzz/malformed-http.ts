import type { GeneratedRequest } from './generate.ts'
import type { Random } from './random.ts'

interface Message {
  method: string
  target: string
  version: string
  host: string
  /** Lines without their ends. */
  lines: string[]
  body: Buffer
}

/** Spoils the message, or answers other bytes in its place. */
type Break = ((message: Message, random: Random) => void) | ((message: Message, random: Random) => Buffer)

const framing = (message: Message, ...lines: string[]) => {
  message.lines = [...message.lines.filter((line) => !/^(content-length|transfer-encoding):/i.test(line)), ...lines]
}

/** What is wrong below the level of requests: HTTP/1.1 itself. */
const breaks: Record<string, Break> = {
  'no host': (message) => {
    message.host = ''
  },
  'two hosts': (message) => {
    message.lines.push('Host: other.example')
  },
  'foreign host': (message, random) => {
    message.host = random.pick([
      'Host: evil.example',
      'Host: 127.0.0.1.evil.example',
      'Host: [::1',
      'Host: \x01',
      'Host:',
    ])
  },
  'odd version': (message, random) => {
    message.version = random.pick(['HTTP/9.9', 'HTTP/1.0', 'HTTP/0.9', 'HTTP/2', 'HTTPS/1.1', '', 'http/1.1'])
  },
  'odd method': (message, random) => {
    message.method = random.pick(['get', 'G\0T', 'CONNECT', 'FOO', 'PRI', 'M-SEARCH', '', 'GET GET', '\xff'])
  },
  'odd target': (message, random) => {
    const targets = [
      '*',
      'http://evil.example/v1/health',
      '//evil.example/',
      '',
      '/\0',
      '/a b',
      '/\xff\xfe',
      '/\x7f',
      '#',
      '\\',
    ]
    message.target = random.pick([...targets, `/${'a'.repeat(70_000)}`])
  },
  'control characters in a header': (message, random) => {
    const name = random.pick(['X-Service-Request-ID', 'Authorization', 'X-Service-Tenant', 'Accept', 'X-Any'])
    message.lines.push(
      `${name}: a${random.pick(['\0', '\x01', '\x7f', '\r', '\n', '\x1b[31m', '\r\n folded', '\x80\xff'])}b`,
    )
  },
  'no header': (message, random) => {
    message.lines.push(random.pick(['no colon', ': no name', 'a name: x', 'X-Space : x', '\0: x', ' : ', '(): x']))
  },
  'headers of 64 KiB': (message) => {
    message.lines.push(`X-Long: ${'v'.repeat(65_536)}`)
  },
  'thousands of headers': (message) => {
    for (let index = 0; index < 5000; index += 1) message.lines.push('A: b')
  },
  'two lengths': (message, random) => {
    const length = message.body.length
    framing(message, `Content-Length: ${length}`, `Content-Length: ${random.pick([length, length + 1, 0])}`)
  },
  'odd length': (message, random) => {
    framing(
      message,
      `Content-Length: ${random.pick(['-1', '1e3', '0x10', '', 'x', '9'.repeat(30), '1, 1', '+2', '5'])}`,
    )
  },
  'length and chunks': (message) => framing(message, 'Content-Length: 4', 'Transfer-Encoding: chunked'),
  'odd transfer encoding': (message, random) => {
    const codings = [
      'gzip, chunked',
      'chunked, identity',
      'identity',
      'xchunked',
      'chunked, chunked',
      '\x0bchunked',
      '',
    ]
    framing(message, `Transfer-Encoding: ${random.pick(codings)}`)
  },
  'odd chunks': (message, random) => {
    framing(message, 'Transfer-Encoding: chunked')
    const bodies = [
      'zz\r\n',
      '-1\r\n',
      'ffffffffffffffff\r\n',
      '5\r\nab',
      `1;${'e'.repeat(20_000)}\r\na\r\n0\r\n\r\n`,
      '1\r\nab\r\n',
    ]
    message.body = Buffer.from(
      random.pick([...bodies, '0\r\nTrailer: x\r\n\r\n', '1\na\n0\n\n', '2\r\n{}\r\n0\r\n\r\n']),
    )
  },
  'cut off': (message, random) => {
    const whole = bytesOf(message)
    return whole.subarray(0, random.int(1, whole.length))
  },
  'shorter than announced': (message) => framing(message, `Content-Length: ${message.body.length + 100}`),
  'bare line feeds': (message) => Buffer.from(bytesOf(message).toString('latin1').replaceAll('\r\n', '\n'), 'latin1'),
  expectation: (message, random) => {
    message.lines.push(`Expect: ${random.pick(['100-continue', 'something', '', '100-continue, x'])}`)
  },
  upgrade: (message, random) => {
    const to = random.pick(['websocket', 'h2c', 'TLS/1.3'])
    message.lines.push(`Upgrade: ${to}`, 'Connection: Upgrade', 'HTTP2-Settings: AAMAAABkAAQAAP__')
  },
  'two at once': (message) => Buffer.concat([bytesOf(message), bytesOf(message)]),
  'not HTTP': (_message, random) => {
    const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    const hello = Buffer.from('160301007b010000770303', 'hex')
    const noise = Buffer.from(Array.from({ length: random.int(1, 500) }, () => random.int(0, 255)))
    return random.pick([preface, hello, noise, Buffer.from('\r\n\r\n\r\n'), Buffer.from('GET\r\n\r\n')])
  },
}

/** The request as bytes, with one or two things wrong that only bytes can have. */
export function sendMalformed(request: GeneratedRequest, random: Random): GeneratedRequest {
  const message: Message = {
    method: request.method,
    target: request.target,
    version: 'HTTP/1.1',
    host: 'Host: 127.0.0.1',
    lines: request.headers.map(([name, value]) => `${name}: ${value}`),
    body: request.body ?? Buffer.alloc(0),
  }
  if (request.body) framing(message, `Content-Length: ${message.body.length}`)
  const names = Array.from({ length: random.int(1, 2) }, () => random.pick(Object.keys(breaks)))
  let raw: Buffer | undefined
  for (const name of names) raw = breaks[name]!(message, random) ?? raw
  return { ...request, raw: raw ?? bytesOf(message), mutations: [...request.mutations, ...names] }
}

function bytesOf({ method, target, version, host, lines, body }: Message): Buffer {
  const head = [`${method} ${target} ${version}`, ...(host ? [host] : []), ...lines].join('\r\n')
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'latin1'), body])
}
