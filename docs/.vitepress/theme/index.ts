import theme from 'vitepress/theme-without-fonts'

// After the theme, whose variables it overrides.
import '@fontsource-variable/inter'
import './theme.css'

export default theme
