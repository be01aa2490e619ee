import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import presetMantine from 'postcss-preset-mantine'
import { defineConfig } from 'vite'

/** What the server replaces in the page by a fresh nonce for each answer. */
export const noncePlaceholder = '__CSP_NONCE__'

/** The web UI: `web/` is built into `web/dist/`, which the Hub serves. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [react()],
  css: { postcss: { plugins: [presetMantine()] } },
  html: { cspNonce: noncePlaceholder },
  build: {
    target: 'es2023',
    outDir: 'dist',
    emptyOutDir: true,
    // Pages that share little would otherwise be refused by the policy: nothing may stand in the page itself.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // What each page needs to begin with: tests/web/first-load.test.ts adds it up.
    manifest: 'manifest.json',
    rolldownOptions: {
      // What every page needs, in one file: in eighty small ones it is 30 kB more, since each is compressed by itself.
      output: { codeSplitting: { groups: [{ name: 'shell', tags: ['$initial'] }] } },
    },
  },
})
