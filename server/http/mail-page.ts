import { Html, html } from './page.ts'

/** Colours with a contrast of at least 7:1 in both schemes. Programs that drop style sheets show black on white. */
const style = `
:root { color-scheme: light dark }
body { margin: 0; padding: 24px; background: #ffffff; color: #1c2024; font: 16px/1.6 sans-serif }
a { color: #084a8f } p { margin: 0 0 16px; max-width: 36em } .address { word-break: break-all }
@media (prefers-color-scheme: dark) { body { background: #15181b; color: #e8eaed } a { color: #9cc9ff } }
`

/** Composes the HTML of a mail from its paragraphs, without images or external content. */
export function mailPage(subject: string, paragraphs: readonly Html[]): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${subject}</title>
<style>${new Html(style)}</style>
</head>
<body>
${paragraphs.map((paragraph) => html`<p>${paragraph}</p>\n`)}</body>
</html>
`.text
}
