import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { boundPipelining } from '../../server/http/body/pipelined-requests.ts'
import { patience } from '../support/machine-speed.ts'

/** Sends requests in one piece, each with its number as its path. */
async function pipelined(
  count: number,
  listener: RequestListener,
): Promise<{ socket: Socket; received: () => string }> {
  const server = createServer(listener)
  boundPipelining(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  onTestFinished(() => {
    socket.destroy()
    server.closeAllConnections()
    server.close()
  })
  let received = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text
  })
  socket.on('error', () => {})
  socket.write(Array.from({ length: count }, (_, at) => `GET /${at} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''))
  return { socket, received: () => received }
}

const numbersIn = (text: string) => [...text.matchAll(/answer (\d+)/g)].map(([, at]) => Number(at))

test('four requests of a connection are handled at a time, and all are answered in their order', async () => {
  const open: [string, ServerResponse][] = []
  const { received } = await pipelined(104, ({ url = '' }, response) => void open.push([url, response]))
  for (let answered = 0; answered < 104; answered += open.splice(0).length) {
    await expect.poll(() => open.length, patience).toBe(4)
    // The last first: answers keep the order of their requests.
    for (const [url, response] of open.toReversed()) response.end(`answer ${url.slice(1)}`)
  }
  await expect.poll(() => numbersIn(received()), patience).toEqual(Array.from({ length: 104 }, (_, at) => at))
})

test('requests that are answered at once leave turns to other work', async () => {
  let handledInTurn = 0
  let most = 0
  let ended = false
  const turn = () => {
    handledInTurn = 0
    if (!ended) setImmediate(turn)
  }
  turn()
  const { received } = await pipelined(100, ({ url = '' }, response) => {
    handledInTurn++
    most = Math.max(most, handledInTurn)
    response.end(`answer ${url.slice(1)}`)
  })
  await expect.poll(() => numbersIn(received()).length, patience).toBe(100)
  ended = true
  expect(most).toBeLessThanOrEqual(8)
})

test('more than a hundred that wait close the connection', async () => {
  const handled: string[] = []
  const { socket } = await pipelined(105, ({ url = '' }) => void handled.push(url))
  await once(socket, 'close')
  expect(handled).toEqual(['/0', '/1', '/2', '/3'])
})
