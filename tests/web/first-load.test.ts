import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'

/** Bounds the first script, which contains the command center without the charts below its figures. */
const firstPageBytesMax = 230_000
/** Bounds what any other page loads if it is the first that somebody opens. */
const otherPageBytesMax = 360_000
/** Bounds the requests for scripts of a page. */
const scriptsMax = 35
const dist = new URL('../../web/dist/', import.meta.url)

interface Part {
  file: string
  /** Keys of the parts that have to be there before it runs. */
  imports?: string[]
}

const manifest: Record<string, Part> = JSON.parse(readFileSync(new URL('manifest.json', dist), 'utf8'))

/** The scripts that a browser has to load before these parts run. */
function scriptsOf(keys: readonly string[], found = new Map<string, number>()): Map<string, number> {
  for (const key of keys) {
    const part = manifest[key]
    if (!part) throw new Error(`The build has no part ${key}.`)
    if (found.has(part.file)) continue
    found.set(part.file, gzipSync(readFileSync(new URL(part.file, dist))).length)
    scriptsOf(part.imports ?? [], found)
  }
  return found
}

const pages = ['index.html', ...Object.keys(manifest).filter((key) => /^pages\/.*-page\.tsx$/.test(key))]

test.each(pages)('what has to be loaded before %s shows anything is little', (page) => {
  const scripts = scriptsOf(['index.html', page])
  const total = [...scripts.values()].reduce((sum, bytes) => sum + bytes, 0)
  // The largest are named, so that a failure says where to begin.
  const largest = [...scripts].toSorted(([, one], [, other]) => other - one).slice(0, 6)
  const most = page === 'index.html' ? firstPageBytesMax : otherPageBytesMax
  expect(total, JSON.stringify(largest)).toBeLessThanOrEqual(most)
  expect(scripts.size).toBeLessThanOrEqual(scriptsMax)
})

test('every page has a part of its own, and charts and the graph are not in what all of them load', () => {
  expect(pages.length).toBeGreaterThan(20)
  const names = Object.keys(manifest).join('\n')
  expect(names).toContain('trend-chart')
  expect([...scriptsOf(['index.html']).keys()].join('\n')).not.toMatch(/trend-chart|graph-canvas|data-table/)
})
