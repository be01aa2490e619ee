import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'

/** Somebody else's web server, with pages that a test thinks up. */
export interface OtherSite {
  /**
   * As browsers see it from the Hub at 127.0.0.1: another port there is another origin of the same site, which gets
   * every cookie; the name is another site.
   */
  origins: Record<'same site, other port' | 'other site', string>
  /** Opens a page of it with this body. */
  open(page: Page, origin: string, body: string): Promise<void>
  close(): Promise<void>
}

export async function startOtherSite(): Promise<OtherSite> {
  let content = ''
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(content)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    origins: {
      'same site, other port': `http://127.0.0.1:${port}`,
      'other site': `http://evil.localhost:${port}`,
    },
    async open(page, origin, body) {
      content = `<!doctype html><html lang="en"><title>Other site</title><body>${body}`
      await page.goto(`${origin}/`)
    },
    close: () => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()),
  }
}
