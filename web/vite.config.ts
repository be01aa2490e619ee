import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import presetMantine from 'postcss-preset-mantine'
import { defineConfig } from 'vite'

/** The placeholder that the server replaces by a fresh nonce in each response. */
export const noncePlaceholder = '__CSP_NONCE__'

/** Builds the web UI from `web/` into `web/dist/`, which the Hub serves. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [react()],
  css: { postcss: { plugins: [presetMantine()] } },
  html: { cspNonce: noncePlaceholder },
  build: {
    target: 'es2023',
    outDir: 'dist',
    emptyOutDir: true,
    // Inline assets would violate the policy: nothing may be inline in the page itself.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // Lists the initial files of each page: tests/web/first-load.test.ts adds them up.
    manifest: 'manifest.json',
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // One file for the first page and its frame: many small files take more bytes, since each is compressed by
            // itself, and more time, since each is a request.
            { name: 'shell', tags: ['$initial'], priority: 1 },
            // One file for what many pages share. With fewer pages, most of the file would be of no use to a page.
            { name: 'common', minShareCount: 9 },
          ],
        },
      },
    },
  },
})
