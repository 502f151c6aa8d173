import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import InstallCommand from './InstallCommand.vue';
import LivePlayground from './LivePlayground.vue';
import './style.css';
import './home.css';
import './code.css';

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('InstallCommand', InstallCommand);
    app.component('LivePlayground', LivePlayground);
  },
} satisfies Theme;
