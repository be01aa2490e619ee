import {
  type BadgeFactory,
  type ButtonFactory,
  createTheme,
  type DrawerFactory,
  type ExtendComponent,
  type MantineColorsTuple,
  type MenuDropdownProps,
  type MenuFactory,
  type ModalFactory,
} from '@mantine/core'
import type { MouseEvent } from 'react'

/** The Hub's own colour: for its seal, links and the first series in charts. */
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

/** A dialog's header is not a banner of the page; its close button needs a name. */
const titled = {
  attributes: { header: { role: 'presentation' } },
  closeButtonProps: { 'aria-label': 'Close' },
  styles: { title: { fontWeight: 650, fontSize: 'var(--mantine-font-size-lg)' } },
}

/**
 * Returns the focus to the menu's opener. The menu disappears before its entry's dialog opens, which then could not
 * return the focus.
 */
function focusOpener({ currentTarget, target }: MouseEvent<HTMLElement>): void {
  if (!(target instanceof Element && target.closest('[role="menuitem"]'))) return
  document.getElementById(currentTarget.getAttribute('aria-labelledby') ?? '')?.focus({ preventScroll: true })
}

export const theme = createTheme({
  primaryColor: 'seal',
  primaryShade: 7,
  colors: { seal },
  fontFamily: "'Inter Variable', system-ui, -apple-system, 'Segoe UI', sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, monospace",
  headings: {
    fontWeight: '650',
    sizes: {
      h1: { fontSize: '1.5rem' },
      h2: { fontSize: '1.125rem' },
      h3: { fontSize: '1rem' },
      h4: { fontSize: '0.9375rem' },
    },
  },
  // The library's largest, xl, is 1408 px: a window of 1440 px with the navigation has 1152 px for a table.
  breakpoints: { xxl: '110em' },
  defaultRadius: 'md',
  cursorType: 'pointer',
  autoContrast: true,
  respectReducedMotion: true,
  focusRing: 'auto',
  // Plain objects: `Modal.extend` would load the component before any page needs it.
  components: {
    // Text on a tint: only the sign is coloured, because orange or grey letters on their own tint are hard to read.
    Badge: {
      defaultProps: { radius: 'sm', tt: 'none', fw: 500 },
      vars: (_theme, { variant, size = 'md' }) => ({
        root: {
          ...(size === 'md' && { '--badge-fz': '0.75rem' }),
          ...(size === 'sm' && { '--badge-fz': '0.6875rem' }),
          ...(variant === 'light' && { '--badge-color': 'var(--mantine-color-text)' }),
        },
      }),
      styles: (_theme, { variant, color = 'seal' }) => ({
        root: { letterSpacing: 0 },
        ...(variant === 'light' && { section: { color: `var(--mantine-color-${color}-text)` } }),
      }),
    } satisfies ExtendComponent<BadgeFactory>,
    // With reduced motion, the library omits the transition including its final position.
    Button: { styles: { loader: { transform: 'translate(-50%, -50%)' } } } satisfies ExtendComponent<ButtonFactory>,
    // The library's invisible focus element is not a menu entry, but all content of a menu must be. Within the page the
    // menu is in a landmark; at the end of the document it is not.
    Menu: {
      defaultProps: { withInitialFocusPlaceholder: false, portalProps: { target: '#page' } },
    } satisfies ExtendComponent<MenuFactory>,
    MenuDropdown: { defaultProps: { onClickCapture: focusOpener } satisfies MenuDropdownProps },
    Modal: { defaultProps: titled } satisfies ExtendComponent<ModalFactory>,
    Drawer: { defaultProps: titled } satisfies ExtendComponent<DrawerFactory>,
  },
})
