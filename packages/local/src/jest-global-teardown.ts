export { closeEngines as default } from './jest-global-setup.js';
