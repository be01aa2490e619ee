import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { javaScriptOf } from '../../deploy/write-package.ts'
import { defaultDataDirectory } from '../../server/config/data-directory.ts'
import { beginWebUiBuild } from '../../server/web-ui-build.ts'
import { root } from './dockerfile.ts'

describe('the JavaScript of the package', () => {
  test('keeps lines and columns, and names files that are JavaScript', () => {
    const source = readFileSync(join(root, 'server/cluster/worker-pool.ts'), 'utf8')
    const script = javaScriptOf('server/cluster/worker-pool.ts')
    expect(script.split('\n').length).toBe(source.split('\n').length)
    expect(script).toContain("join(import.meta.dirname, 'worker.js')")
    expect(script).not.toMatch(/\.ts'/)
    const line = source.split('\n').findIndex((text) => text.includes('setupPrimary'))
    expect(script.split('\n')[line]?.indexOf('setupPrimary')).toBe(source.split('\n')[line]?.indexOf('setupPrimary'))
  })

  test('keeps names of files that are no neighbours', () => {
    expect(javaScriptOf('deploy/write-package.ts')).toContain("'.ts'")
  })
})

describe('the default data directory', () => {
  const installed = '/home/a/.npm/_npx/1/node_modules/org-memory-hub/dist'

  test('of a package does not depend on its folder', () => {
    expect(defaultDataDirectory(installed, false, '/home/a')).toBe('/home/a/.local/share/org-memory-hub')
    expect(defaultDataDirectory(installed, true, '/root')).toBe('/var/lib/org-memory-hub/package')
  })

  test('of a checkout is in it, and for root apart for each', () => {
    expect(defaultDataDirectory('/srv/hub', false, '/home/a')).toBe('/srv/hub/.hub-data')
    const [one, other] = ['/srv/hub', '/srv/hub2'].map((path) => defaultDataDirectory(path, true, '/root'))
    expect(one).toMatch(/^\/var\/lib\/org-memory-hub\/[0-9a-f]{16}$/)
    expect(other).not.toBe(one)
  })
})

test('without the sources of the web UI nothing is built, and nothing is logged', async () => {
  const fail = () => expect.fail('nothing was to be logged')
  const build = beginWebUiBuild({ role: 'all' }, { info: fail, warn: fail }, join(root, 'web/no-build.js'))
  expect(await build.problem).toBe(undefined)
})
