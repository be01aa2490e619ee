import { once } from 'node:events'
import { createServer } from 'node:net'

/** Systems give ports from 32768 on to outgoing connections and to servers that ask for port 0. */
const portMin = 10_000
const portEnd = 32_768

/**
 * Returns a free port of 127.0.0.1 that the system gives to nobody by itself. A test may therefore take its server
 * down and up again on this port while other tests run.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = portMin + Math.floor(Math.random() * (portEnd - portMin))
    if (await isFree(port)) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
