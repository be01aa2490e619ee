// Inspects the running service from outside, through Node's own inspector: the product has no hook for it.
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { atEnd } from './cleanup.ts'

export interface Inspector {
  /** Evaluates an expression in the service's process; awaits promises. */
  evaluate<Value>(expression: string): Promise<Value>
  collectGarbage(): Promise<void>
  close(): void
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** @param port the port that the process was started with: `--inspect=127.0.0.1:<port>` */
export async function inspectProcess(port: number): Promise<Inspector> {
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
    webSocketDebuggerUrl: string
  }[]
  const socket = new WebSocket(targets[0]!.webSocketDebuggerUrl)
  await new Promise<void>((opened, failed) => {
    socket.addEventListener('open', () => opened(), { once: true })
    socket.addEventListener('error', () => failed(new Error(`no inspector on port ${port}`)), { once: true })
  })
  // The process would not end while an inspector is connected.
  atEnd(async () => socket.close())
  const waiting = new Map<number, (answer: Answer) => void>()
  socket.addEventListener('message', ({ data }) => {
    const answer = JSON.parse(String(data)) as Answer
    waiting.get(answer.id)?.(answer)
    waiting.delete(answer.id)
  })
  let calls = 0
  async function call(method: string, params: object = {}): Promise<Answer> {
    const id = ++calls
    const answered = new Promise<Answer>((resolve) => waiting.set(id, resolve))
    socket.send(JSON.stringify({ id, method, params }))
    const answer = await answered
    const problem = answer.error?.message ?? answer.result?.exceptionDetails?.exception?.description
    if (problem !== undefined) throw new Error(`${method}: ${problem}`)
    return answer
  }
  return {
    evaluate: async <Value>(expression: string) => {
      const { result } = await call('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })
      return result?.result?.value as Value
    },
    collectGarbage: async () => {
      await call('HeapProfiler.collectGarbage')
    },
    close: () => socket.close(),
  }
}

interface Answer {
  id: number
  error?: { message: string }
  result?: { result?: { value: unknown }; exceptionDetails?: { exception?: { description?: string } } }
}
