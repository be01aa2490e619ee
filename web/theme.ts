import { Badge, createTheme, Drawer, type MantineColorsTuple, Menu, Modal } from '@mantine/core'

/** The Hub's own colour: of its seal, its links and its first series in charts. */
const seal: MantineColorsTuple = [
  '#effcf9',
  '#d5f5ee',
  '#a9e9dc',
  '#76d9c7',
  '#45c3af',
  '#23a897',
  '#12897c',
  '#0f766e',
  '#0d5c57',
  '#0a4744',
]

/** Their head is no banner of the page; the button that closes them has a name. */
const titled = {
  attributes: { header: { role: 'presentation' } },
  closeButtonProps: { 'aria-label': 'Close' },
  styles: { title: { fontWeight: 650, fontSize: 'var(--mantine-font-size-lg)' } },
}

export const theme = createTheme({
  primaryColor: 'seal',
  primaryShade: 7,
  colors: { seal },
  fontFamily: "'Inter Variable', system-ui, -apple-system, 'Segoe UI', sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, monospace",
  headings: {
    fontWeight: '650',
    sizes: { h1: { fontSize: '1.5rem' }, h2: { fontSize: '1.125rem' }, h3: { fontSize: '1rem' } },
  },
  defaultRadius: 'md',
  cursorType: 'pointer',
  autoContrast: true,
  respectReducedMotion: true,
  focusRing: 'auto',
  components: {
    Badge: Badge.extend({ styles: { root: { textTransform: 'none', fontWeight: 500, letterSpacing: 0 } } }),
    // Its invisible place for the focus is no entry of a menu, as what a menu holds has to be.
    Menu: Menu.extend({ defaultProps: { withInitialFocusPlaceholder: false } }),
    Modal: Modal.extend({ defaultProps: titled }),
    Drawer: Drawer.extend({ defaultProps: titled }),
  },
})
