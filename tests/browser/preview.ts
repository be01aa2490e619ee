// A hub with a full tenant to look at: `npm run preview`. Vite serves the UI beside it and takes up what is changed in
// web/; with --built the hub serves what was built. Stop it with Ctrl-C.
import { join, resolve } from 'node:path'
import { setInterval } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createServer, type ProxyOptions, type ViteDevServer } from 'vite'
import { startTestCluster } from '../support/cluster.ts'
import { roleEmails, startUiWorld } from './ui-world.ts'
import { sendLately } from './world/telemetry.ts'

const { values: flags } = parseArgs({
  options: {
    built: { type: 'boolean', default: false },
    /** Of the UI; a free one if 0. */
    port: { type: 'string', default: '0' },
  },
})

const web = resolve(import.meta.dirname, '../../web')
/** What the hub answers in any case; everything else is the UI. */
const ofTheHub = [
  '/api/v1',
  '/v1',
  '/sign-in',
  '/session',
  '/welcome',
  '/invitation',
  '/reference',
  '/.well-known',
  '/errors',
  '/scim',
]
const eventsEveryMs = 4000

const { cluster, stop: stopCluster } = await startTestCluster(process.env.HUB_TEST_DATABASE_URL)
const world = await startUiWorld({ cluster, settings: flags.built ? { HUB_PORT: flags.port } : {} })
const hubUrl = world.hub.baseUrl
const dev = flags.built ? undefined : await startVite(hubUrl)
const stopped = new AbortController()

console.log(`UI: ${dev?.resolvedUrls?.local[0]?.replace(/\/$/, '') ?? hubUrl}`)
console.log(`Hub: ${hubUrl}`)
console.log(`Sign in by mock login, tenant acme: ${Object.values(roleEmails).join(', ')}`)
console.log('The tenant globex (admin@globex.example) is empty.')

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort())
try {
  // For views that are live.
  for await (const _ of setInterval(eventsEveryMs, undefined, { signal: stopped.signal }))
    await sendLately(world.hub, 1 + Math.floor(Math.random() * 3)).catch((error) => console.error(String(error)))
} catch {
  // Told to stop.
}
await dev?.close()
await world.stop()
await stopCluster()
process.exit()

async function startVite(hub: string): Promise<ViteDevServer> {
  const server = await createServer({
    configFile: join(web, 'vite.config.ts'),
    clearScreen: false,
    // All pages are looked through at the start: what is found later has the browser load the page again.
    optimizeDeps: { entries: ['index.html', '**/*.tsx'] },
    server: {
      host: '127.0.0.1',
      port: Number(flags.port),
      hmr: { overlay: false },
      proxy: Object.fromEntries(ofTheHub.map((path) => [`^${path.replace('.', '\\.')}(/|\\?|$)`, toHub(hub)])),
    },
  })
  return server.listen()
}

/** For the hub the calls are from its own pages; redirects lead back to Vite. */
function toHub(hub: string): ProxyOptions {
  return {
    target: hub,
    changeOrigin: true,
    configure: (proxy) => {
      const addresses = new WeakMap<object, string>()
      proxy.on('proxyReq', (outgoing, incoming) => {
        addresses.set(incoming, `http://${incoming.headers.host}`)
        if (incoming.headers.origin) outgoing.setHeader('origin', hub)
        if (incoming.headers.referer) outgoing.setHeader('referer', `${hub}/`)
      })
      proxy.on('proxyRes', (answer, incoming) => {
        const { location } = answer.headers
        if (location?.startsWith(hub))
          answer.headers.location = `${addresses.get(incoming)}${location.slice(hub.length)}`
      })
    },
  }
}
